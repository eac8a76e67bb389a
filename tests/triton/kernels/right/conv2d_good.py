# task: conv2d expect: ok
# A product of matrices, filters by pixels, whose left side is the weights and whose right side is gathered.
import triton
import triton.language as tl


# @launch convolve[(ceil_div(height * width, PIXELS), ceil_div(filters, FILTERS))](x, w, bias, y, channels, filters, height, width, FILTERS=16, PIXELS=64, DEPTH=16, num_warps=8)
@triton.jit
def convolve(x, w, bias, y, channels, filters, height, width,
             FILTERS: tl.constexpr, PIXELS: tl.constexpr, DEPTH: tl.constexpr):
    pixel = tl.program_id(0) * PIXELS + tl.arange(0, PIXELS)
    f = tl.program_id(1) * FILTERS + tl.arange(0, FILTERS)
    i = pixel // width
    j = pixel % width
    terms = channels * 9
    start = tl.load(bias + f, mask=f < filters, other=0.0)
    total = tl.zeros((FILTERS, PIXELS), tl.float32) + start[:, None]
    for first in range(0, terms, DEPTH):
        term = first + tl.arange(0, DEPTH)
        weight = tl.load(w + f[:, None] * terms + term[None, :],
                         mask=(f < filters)[:, None] & (term < terms)[None, :], other=0.0)
        r = i[None, :] + (term // 3 % 3 - 1)[:, None]
        s = j[None, :] + (term % 3 - 1)[:, None]
        inside = (term < terms)[:, None] & (r >= 0) & (r < height) & (s >= 0) & (s < width)
        value = tl.load(x + ((term // 9)[:, None] * height + r) * width + s, mask=inside, other=0.0)
        total = tl.dot(weight, value, total, input_precision="ieee")
    at = f[:, None] * (height * width) + pixel[None, :]
    tl.store(y + at, total, mask=(f < filters)[:, None] & (pixel < height * width)[None, :])
