# task: total_max expect: wrong_result
# The neutral element is a small number, but not the smallest.
import triton
import triton.language as tl


# @launch total_max[(1,)](a, res, N)
@triton.jit
def total_max(a, res, N):
    best = tl.full((1024,), -10000.0, tl.float32)
    for start in range(0, N, 1024):
        i = start + tl.arange(0, 1024)
        best = tl.maximum(best, tl.load(a + i, i < N, other=-10000.0))
    tl.store(res, tl.max(best, 0))
