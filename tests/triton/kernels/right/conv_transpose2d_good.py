# task: conv_transpose2d expect: ok
# A product of matrices, pixels by filters and taps, over the channels.
import triton
import triton.language as tl


# @launch convolve[(ceil_div(height * width, PIXELS), ceil_div(4 * filters, TAPS))](x, w, y, channels, filters, height, width, PIXELS=64, TAPS=32, DEPTH=16, num_warps=8)
@triton.jit
def convolve(x, w, y, channels, filters, height, width, PIXELS: tl.constexpr, TAPS: tl.constexpr, DEPTH: tl.constexpr):
    pixel = tl.program_id(0) * PIXELS + tl.arange(0, PIXELS)
    tap = tl.program_id(1) * TAPS + tl.arange(0, TAPS)
    pixels = height * width
    taps = 4 * filters
    total = tl.zeros((PIXELS, TAPS), tl.float32)
    for first in range(0, channels, DEPTH):
        c = first + tl.arange(0, DEPTH)
        value = tl.load(x + c[None, :] * pixels + pixel[:, None],
                        mask=(c < channels)[None, :] & (pixel < pixels)[:, None], other=0.0)
        weight = tl.load(w + c[:, None] * taps + tap[None, :],
                         mask=(c < channels)[:, None] & (tap < taps)[None, :], other=0.0)
        total = tl.dot(value, weight, total, input_precision="ieee")
    i = (pixel // width * 2)[:, None] + (tap // 2 % 2)[None, :]
    j = (pixel % width * 2)[:, None] + (tap % 2)[None, :]
    at = ((tap // 4)[None, :] * (2 * height) + i) * (2 * width) + j
    tl.store(y + at, total, mask=(pixel < pixels)[:, None] & (tap < taps)[None, :])
