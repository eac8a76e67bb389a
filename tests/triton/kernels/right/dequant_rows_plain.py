# task: dequant_rows expect: ok
# One element a lane, which takes its byte from its word.
import triton
import triton.language as tl


# @launch dequantise[(rows, ceil_div(cols, BLOCK))](packed, scale, zero, y, words, cols, BLOCK=256)
@triton.jit
def dequantise(packed, scale, zero, y, words, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    col = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = col < cols
    word = tl.load(packed + row * words + col // 4, mask=inside, other=0)
    byte = (word >> (8 * (col % 4))) & 255
    q = (byte ^ 128) - 128
    value = tl.load(scale + row) * (q - tl.load(zero + row)).to(tl.float32)
    tl.store(y + row * cols + col, value, mask=inside)
