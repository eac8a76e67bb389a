# task: masked_fill expect: ok
# The mask of the task is the mask of the load, so that masked elements are not read.
import triton
import triton.language as tl


# @launch fill[(ceil_div(n, BLOCK),)](x, mask, y, value, n, BLOCK=1024)
@triton.jit
def fill(x, mask, y, value, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    kept = tl.load(mask + at, mask=inside, other=1) == 0
    tl.store(y + at, tl.load(x + at, mask=kept, other=value), mask=inside)
