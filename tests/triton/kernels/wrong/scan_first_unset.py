# task: exclusive_scan expect: runtime_fault|wrong_result
# Stores to the element behind each, and never to the first.
import triton
import triton.language as tl


# @launch scan[(1,)](counts, offsets, n)
@triton.jit
def scan(counts, offsets, n):
    before = 0
    for start in range(0, n, 1024):
        i = start + tl.arange(0, 1024)
        v = tl.load(counts + i, i < n, other=0)
        tl.store(offsets + i + 1, before + tl.cumsum(v, 0), i + 1 < n)
        before += tl.sum(v, 0)
