# task: depthwise_conv2d expect: ok
# One row of outputs a program, with nine loads.
import triton
import triton.language as tl


# @launch convolve[(batch * channels * height,)](x, w, y, channels, height, width, BLOCK=next_pow2(width))
@triton.jit
def convolve(x, w, y, channels, height, width, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = row % height
    channel = row // height % channels
    j = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for u in tl.static_range(3):
        for v in tl.static_range(3):
            s = j + v - 1
            inside = (i + u >= 1) & (i + u <= height) & (s >= 0) & (s < width)
            value = tl.load(x + (row + u - 1) * width + s, mask=inside, other=0.0)
            total += value * tl.load(w + channel * 9 + u * 3 + v)
    tl.store(y + row * width + j, total, mask=j < width)
