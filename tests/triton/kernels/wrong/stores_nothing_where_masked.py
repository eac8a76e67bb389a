# task: masked_fill expect: wrong_result|runtime_fault
# The masked elements of the output are never written.
import triton
import triton.language as tl


# @launch fill[(ceil_div(n, 256),)](x, mask, y, n)
@triton.jit
def fill(x, mask, y, n):
    i = tl.program_id(0) * 256 + tl.arange(0, 256)
    m = tl.load(mask + i, i < n, other=0) == 0
    tl.store(y + i, tl.load(x + i, i < n), (i < n) & m)
