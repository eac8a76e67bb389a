# task: total_sum expect: compile_error
# Line 15: Triton has no break.
import triton
import triton.language as tl


# @launch total[(1,)](x, y, n)
@triton.jit
def total(x, y, n):
    v = 0.0
    i = tl.arange(0, 256)
    for start in range(0, n, 256):
        v += tl.sum(tl.load(x + start + i, start + i < n, other=0.0), 0)
        if v > 1e30:
            break
    tl.store(y, v)
