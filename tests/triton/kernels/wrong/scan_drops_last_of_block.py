# task: prefix_sum expect: wrong_result
# What goes on to the next block lacks the last element of this one.
import triton
import triton.language as tl


# @launch scan[(1,)](x, y, n)
@triton.jit
def scan(x, y, n):
    before = 0.0
    for start in range(0, n, 1024):
        i = start + tl.arange(0, 1024)
        v = tl.load(x + i, i < n, other=0.0)
        tl.store(y + i, before + tl.cumsum(v, 0), i < n)
        before += tl.sum(tl.where(tl.arange(0, 1024) < 1023, v, 0.0), 0)
