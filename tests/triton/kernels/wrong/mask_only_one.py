# task: masked_fill expect: wrong_result
# Only a flag of 1 counts, but any value that is not 0 is one.
import triton
import triton.language as tl


# @launch fill[(ceil_div(n, 256),)](x, mask, y, value, n)
@triton.jit
def fill(x, mask, y, value, n):
    i = tl.program_id(0) * 256 + tl.arange(0, 256)
    m = tl.load(mask + i, i < n, other=0) == 1
    tl.store(y + i, tl.where(m, value, tl.load(x + i, i < n)), i < n)
