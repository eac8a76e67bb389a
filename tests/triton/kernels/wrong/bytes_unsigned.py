# task: dequant_rows expect: wrong_result
# The bytes are taken as unsigned.
import triton
import triton.language as tl


# @launch dequant[(rows,)](packed, scale, zero, y, words, BLOCK=next_pow2(words * 4))
@triton.jit
def dequant(packed, scale, zero, y, words, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    p = tl.load(packed + row * words + c // 4, c < words * 4, other=0)
    q = (p >> (8 * (c % 4))) & 255
    v = tl.load(scale + row) * (q - tl.load(zero + row)).to(tl.float32)
    tl.store(y + row * words * 4 + c, v, c < words * 4)
