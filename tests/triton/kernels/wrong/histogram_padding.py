# task: histogram expect: wrong_result
# Masked lanes count as key 0 in the local histogram.
import triton
import triton.language as tl


# @launch count[(1,)](keys, counts, n)
@triton.jit
def count(keys, counts, n):
    total = tl.zeros((64,), tl.int32)
    for start in range(0, n, 256):
        i = start + tl.arange(0, 256)
        total += tl.histogram(tl.load(keys + i, i < n, other=0), 64)
    b = tl.arange(0, 64)
    tl.store(counts + b, total, b < 48)
