# task: scale expect: launch_error|compile_error|ok
# A float32 scalar of the task as a constant.
import triton
import triton.language as tl


# @launch scale[(ceil_div(n, 256),)](x, y, n, ALPHA=alpha)
@triton.jit
def scale(x, y, n, ALPHA: tl.constexpr):
    i = tl.program_id(0) * 256 + tl.arange(0, 256)
    tl.store(y + i, ALPHA * tl.load(x + i, i < n), i < n)
