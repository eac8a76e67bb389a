# task: prefix_sum expect: wrong_result
# Each block of 1024 is scanned on its own.
import triton
import triton.language as tl


# @launch scan[(ceil_div(n, 1024),)](x, y, n)
@triton.jit
def scan(x, y, n):
    i = tl.program_id(0) * 1024 + tl.arange(0, 1024)
    tl.store(y + i, tl.cumsum(tl.load(x + i, i < n, other=0.0), 0), i < n)
