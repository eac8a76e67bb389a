# task: rope expect: ok
# Both halves of a row are turned by one program, in blocks of pairs.
import triton
import triton.language as tl


# @launch rotate[(rows, ceil_div(half, BLOCK))](x, co, si, y, half, BLOCK=min(next_pow2(half), 256))
@triton.jit
def rotate(x, co, si, y, half, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    pair = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = pair < half
    low = row * 2 * half + pair
    a = tl.load(x + low, mask=inside)
    b = tl.load(x + low + half, mask=inside)
    cosine = tl.load(co + row * half + pair, mask=inside)
    sine = tl.load(si + row * half + pair, mask=inside)
    tl.store(y + low, a * cosine - b * sine, mask=inside)
    tl.store(y + low + half, a * sine + b * cosine, mask=inside)
