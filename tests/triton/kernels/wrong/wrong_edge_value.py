# task: stencil_1d expect: wrong_result
# The border repeats the last element instead of counting as 0.
import triton
import triton.language as tl


# @launch stencil[(ceil_div(n, 256),)](x, y, n)
@triton.jit
def stencil(x, y, n):
    i = tl.program_id(0) * 256 + tl.arange(0, 256)
    left = tl.load(x + tl.maximum(i - 1, 0), i < n, other=0.0)
    right = tl.load(x + tl.minimum(i + 1, n - 1), i < n, other=0.0)
    tl.store(y + i, (left + tl.load(x + i, i < n, other=0.0) + right) / 3.0, i < n)
