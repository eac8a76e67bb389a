# task: scatter_add expect: ok
# One row of x a program, added atomically to its row of y.
import triton
import triton.language as tl


# @launch clear[(ceil_div(bins * dim, BLOCK),)](y, bins * dim, BLOCK=512)
@triton.jit
def clear(y, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.zeros((BLOCK,), tl.float32), mask=at < size)


# @launch add[(n,)](x, index, y, dim, DIM=next_pow2(dim), num_warps=1)
@triton.jit
def add(x, index, y, dim, DIM: tl.constexpr):
    col = tl.arange(0, DIM)
    value = tl.load(x + tl.program_id(0) * dim + col, mask=col < dim)
    tl.atomic_add(y + tl.load(index + tl.program_id(0)) * dim + col, value, mask=col < dim)
