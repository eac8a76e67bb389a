# task: exclusive_scan expect: wrong_result
# Integers are added as float32, which is exact up to 2^24 only.
import triton
import triton.language as tl


# @launch scan[(1,)](counts, offsets, n)
@triton.jit
def scan(counts, offsets, n):
    before = 0.0
    for start in range(0, n, 1024):
        i = start + tl.arange(0, 1024)
        v = tl.load(counts + i, i < n, other=0).to(tl.float32)
        tl.store(offsets + i, (before + tl.cumsum(v, 0) - v).to(tl.int32), i < n)
        before += tl.sum(v, 0)
