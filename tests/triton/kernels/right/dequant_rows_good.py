# task: dequant_rows expect: ok
# A tile of words a program; the four bytes of a word are interleaved into one store of 16 bytes.
import triton
import triton.language as tl


@triton.jit
def signed_byte(word, PLACE: tl.constexpr):
    return (word << (24 - 8 * PLACE)) >> 24


# @launch dequantise[(ceil_div(rows, ROWS), ceil_div(words, WORDS))](packed, scale, zero, y, rows, words, ROWS=4, WORDS=64)
@triton.jit
def dequantise(packed, scale, zero, y, rows, words, ROWS: tl.constexpr, WORDS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    word = tl.program_id(1) * WORDS + tl.arange(0, WORDS)
    real = row < rows
    inside = real[:, None] & (word < words)[None, :]
    bits = tl.load(packed + row[:, None] * words + word[None, :], mask=inside, other=0)
    even = tl.interleave(signed_byte(bits, 0), signed_byte(bits, 2))
    odd = tl.interleave(signed_byte(bits, 1), signed_byte(bits, 3))
    q = tl.interleave(even, odd)
    factor = tl.load(scale + row, mask=real, other=0.0)
    shift = tl.load(zero + row, mask=real, other=0)
    col = tl.program_id(1) * (4 * WORDS) + tl.arange(0, 4 * WORDS)
    value = factor[:, None] * (q - shift[:, None]).to(tl.float32)
    tl.store(y + row[:, None] * (4 * words) + col[None, :], value, mask=real[:, None] & (col < 4 * words)[None, :])
