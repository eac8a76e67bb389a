# task: scale expect: runtime_fault
# Only the load has a mask.
import triton
import triton.language as tl


# @launch scale[(ceil_div(n, 1024),)](x, y, alpha, n)
@triton.jit
def scale(x, y, alpha, n):
    i = tl.program_id(0) * 1024 + tl.arange(0, 1024)
    tl.store(y + i, alpha * tl.load(x + i, i < n))
