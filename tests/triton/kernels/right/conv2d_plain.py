# task: conv2d expect: ok
# One row of one filter a program; a loop over the channels and nine loads.
import triton
import triton.language as tl


# @launch convolve[(filters * height,)](x, w, bias, y, channels, height, width, WIDTH=next_pow2(width))
@triton.jit
def convolve(x, w, bias, y, channels, height, width, WIDTH: tl.constexpr):
    f = tl.program_id(0) // height
    i = tl.program_id(0) % height
    j = tl.arange(0, WIDTH)
    total = tl.zeros((WIDTH,), tl.float32) + tl.load(bias + f)
    for c in range(channels):
        for u in tl.static_range(3):
            r = i + u - 1
            for v in tl.static_range(3):
                s = j + v - 1
                inside = (r >= 0) & (r < height) & (s >= 0) & (s < width)
                value = tl.load(x + (c * height + r) * width + s, mask=inside, other=0.0)
                total += value * tl.load(w + ((f * channels + c) * 3 + u) * 3 + v)
    tl.store(y + tl.program_id(0) * width + j, total, mask=j < width)
