# task: masked_fill expect: ok
# Flags of one byte in scratch memory, made by one launch and used by the next.
import triton
import triton.language as tl


# @scratch chosen bool[n]
# @launch look[(ceil_div(n, BLOCK),)](mask, chosen, n, BLOCK=512)
@triton.jit
def look(mask, chosen, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(chosen + at, tl.load(mask + at, mask=at < n, other=0) != 0, mask=at < n)


# @launch fill[(ceil_div(n, BLOCK),)](x, chosen, y, value, n, BLOCK=512)
@triton.jit
def fill(x, chosen, y, value, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    flag = tl.load(chosen + at, mask=at < n, other=0)
    tl.store(y + at, tl.where(flag, value, tl.load(x + at, mask=at < n)), mask=at < n)
