# task: axpy_inplace expect: wrong_result|runtime_fault
# The launch is there twice: the second one adds again.
import triton
import triton.language as tl


# @launch axpy[(ceil_div(n, 256),)](x, y, alpha, n)
# @launch axpy[(ceil_div(n, 256),)](x, y, alpha, n)
@triton.jit
def axpy(x, y, alpha, n):
    i = tl.program_id(0) * 256 + tl.arange(0, 256)
    tl.store(y + i, alpha * tl.load(x + i, i < n) + tl.load(y + i, i < n), i < n)
