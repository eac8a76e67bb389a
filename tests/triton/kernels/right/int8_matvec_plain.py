# task: int8_matvec expect: ok
# One row a program; each byte of a word is taken by two shifts.
import triton
import triton.language as tl


# @launch multiply[(rows,)](packed, scale, x, y, words, BLOCK=128)
@triton.jit
def multiply(packed, scale, x, y, words, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    sums = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, words, BLOCK):
        word = first + tl.arange(0, BLOCK)
        bits = tl.load(packed + row * words + word, mask=word < words, other=0)
        for place in tl.static_range(4):
            weight = (bits << (24 - 8 * place)) >> 24
            sums += weight.to(tl.float32) * tl.load(x + 4 * word + place, mask=word < words, other=0.0)
    tl.store(y + row, tl.load(scale + row) * tl.sum(sums, 0))
