# task: axpy_inplace expect: ok
# One block of elements a program, read and written in place.
import triton
import triton.language as tl


# @launch axpy[(ceil_div(n, BLOCK),)](x, y, alpha, n, BLOCK=512)
@triton.jit
def axpy(x, y, alpha, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(y + at, alpha * tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)
