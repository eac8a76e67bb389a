# task: scatter_add expect: runtime_fault|wrong_result
# Two rows with the same index add to it without atomics.
import triton
import triton.language as tl


# @launch zero[(bins,)](y, dim, BLOCK=next_pow2(dim))
# @launch scatter[(n,)](x, index, y, dim, BLOCK=next_pow2(dim))
@triton.jit
def zero(y, dim, BLOCK: tl.constexpr):
    c = tl.arange(0, BLOCK)
    tl.store(y + tl.program_id(0) * dim + c, tl.zeros((BLOCK,), tl.float32), c < dim)


@triton.jit
def scatter(x, index, y, dim, BLOCK: tl.constexpr):
    c = tl.arange(0, BLOCK)
    at = y + tl.load(index + tl.program_id(0)) * dim + c
    v = tl.load(x + tl.program_id(0) * dim + c, c < dim)
    tl.store(at, tl.load(at, c < dim) + v, c < dim)
