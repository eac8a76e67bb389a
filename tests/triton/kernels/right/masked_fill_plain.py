# task: masked_fill expect: ok
# One block of elements a program, chosen after both are loaded.
import triton
import triton.language as tl


# @launch fill[(ceil_div(n, BLOCK),)](x, mask, y, value, n, BLOCK=512)
@triton.jit
def fill(x, mask, y, value, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    flag = tl.load(mask + at, mask=inside)
    tl.store(y + at, tl.where(flag != 0, value, tl.load(x + at, mask=inside)), mask=inside)
