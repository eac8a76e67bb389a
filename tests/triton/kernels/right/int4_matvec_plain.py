# task: int4_matvec expect: ok
# One row a program; a group of eight words and its 64 numbers is one step.
import triton
import triton.language as tl


# @launch multiply[(rows,)](packed, scale, x, y, groups, BLOCK=4, num_warps=1)
@triton.jit
def multiply(packed, scale, x, y, groups, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    word = tl.arange(0, 8)
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, groups, BLOCK):
        group = first + tl.arange(0, BLOCK)
        inside = (group < groups)[:, None] & (word >= 0)[None, :]
        at = group[:, None] * 8 + word[None, :]
        bits = tl.load(packed + row * groups * 8 + at, mask=inside, other=0)
        sums = tl.zeros((BLOCK, 8), tl.float32)
        for place in tl.static_range(8):
            number = ((bits >> (4 * place)) & 15) - 8
            sums += number.to(tl.float32) * tl.load(x + at * 8 + place, mask=inside, other=0.0)
        factor = tl.load(scale + row * groups + group, mask=group < groups, other=0.0).to(tl.float32)
        total += factor * tl.sum(sums, 1)
    tl.store(y + row, tl.sum(total, 0))
