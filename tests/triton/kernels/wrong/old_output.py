# task: masked_fill expect: runtime_fault|wrong_result
# Keeps what was in the output where the mask is set.
import triton
import triton.language as tl


# @launch fill[(ceil_div(n, 256),)](x, mask, y, value, n)
@triton.jit
def fill(x, mask, y, value, n):
    i = tl.program_id(0) * 256 + tl.arange(0, 256)
    m = tl.load(mask + i, i < n, other=0) != 0
    tl.store(y + i, tl.where(m, tl.load(y + i, i < n), tl.load(x + i, i < n)), i < n)
