# task: scatter_add expect: runtime_fault|wrong_result
# The launch that sets the output to 0 comes last.
import triton
import triton.language as tl


# @launch scatter[(n,)](x, index, y, dim, BLOCK=next_pow2(dim))
# @launch zero[(bins,)](y, dim, BLOCK=next_pow2(dim))
@triton.jit
def zero(y, dim, BLOCK: tl.constexpr):
    c = tl.arange(0, BLOCK)
    tl.store(y + tl.program_id(0) * dim + c, tl.zeros((BLOCK,), tl.float32), c < dim)


@triton.jit
def scatter(x, index, y, dim, BLOCK: tl.constexpr):
    c = tl.arange(0, BLOCK)
    at = y + tl.load(index + tl.program_id(0)) * dim + c
    tl.atomic_add(at, tl.load(x + tl.program_id(0) * dim + c, c < dim), c < dim)
