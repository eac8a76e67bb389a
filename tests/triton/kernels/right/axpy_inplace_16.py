# task: axpy_inplace expect: ok
# A block of fewer elements than threads: Triton lets all threads load, and some store.
import triton
import triton.language as tl


# @launch axpy[(ceil_div(n, BLOCK),)](x, y, alpha, n, BLOCK=16, num_warps=1)
@triton.jit
def axpy(x, y, alpha, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = alpha * tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n)
    tl.store(y + at, value, mask=at < n)
