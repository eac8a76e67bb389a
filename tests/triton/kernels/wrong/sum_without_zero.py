# task: total_sum expect: runtime_fault|wrong_result
# Adds to an output that nobody has set to 0.
import triton
import triton.language as tl


# @launch total[(ceil_div(n, 256),)](x, y, n)
@triton.jit
def total(x, y, n):
    i = tl.program_id(0) * 256 + tl.arange(0, 256)
    tl.atomic_add(y, tl.sum(tl.load(x + i, i < n, other=0.0), 0))
