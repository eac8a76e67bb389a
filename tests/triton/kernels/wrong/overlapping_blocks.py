# task: axpy_inplace expect: runtime_fault|wrong_result on-gpu: ok|wrong_result
# Blocks of 256 every 255 elements: one element of each is added twice.
import triton
import triton.language as tl


# @launch axpy[(ceil_div(n, 255),)](x, y, alpha, n)
@triton.jit
def axpy(x, y, alpha, n):
    i = tl.program_id(0) * 255 + tl.arange(0, 256)
    tl.store(y + i, alpha * tl.load(x + i, i < n) + tl.load(y + i, i < n), i < n)
