# task: scale expect: launch_error
# A float is no argument, only a constant.
import triton
import triton.language as tl


# @launch scale[(ceil_div(n, 256),)](x, y, 0.5, n)
@triton.jit
def scale(x, y, alpha, n):
    i = tl.program_id(0) * 256 + tl.arange(0, 256)
    tl.store(y + i, alpha * tl.load(x + i, i < n), i < n)
