# task: total_sum expect: runtime_fault|wrong_result
# Each program stores its own sum to the one output.
import triton
import triton.language as tl


# @launch total[(ceil_div(n, 256),)](x, y, n)
@triton.jit
def total(x, y, n):
    i = tl.program_id(0) * 256 + tl.arange(0, 256)
    tl.store(y, tl.sum(tl.load(x + i, i < n, other=0.0), 0))
