# task: conv_transpose2d expect: ok
# One output a lane, with a loop over the channels.
import triton
import triton.language as tl


# @launch convolve[(ceil_div(filters * high * wide, BLOCK),)](x, w, y, channels, filters, height, width, BLOCK=128)
@triton.jit
def convolve(x, w, y, channels, filters, height, width, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < filters * height * width * 4
    wide = 2 * width
    j = at % wide
    i = at // wide % (2 * height)
    f = at // (wide * 2 * height)
    total = tl.zeros((BLOCK,), tl.float32)
    for c in range(channels):
        value = tl.load(x + (c * height + i // 2) * width + j // 2, mask=inside, other=0.0)
        weight = tl.load(w + ((c * filters + f) * 2 + i % 2) * 2 + j % 2, mask=inside, other=0.0)
        total += value * weight
    tl.store(y + at, total, mask=inside)
