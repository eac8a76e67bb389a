# task: total_sum expect: launch_error
# There is no type float.
import triton
import triton.language as tl


# @scratch partial float[ceil_div(n, 256)]
# @launch total[(ceil_div(n, 256),)](x, partial, n)
# @launch total[(1,)](partial, y, ceil_div(n, 256))
@triton.jit
def total(x, y, n):
    i = tl.program_id(0) * 256 + tl.arange(0, 256)
    tl.store(y + tl.program_id(0), tl.sum(tl.load(x + i, i < n, other=0.0), 0))
