# task: depthwise_conv2d expect: ok
# Tiles of 8 rows and 32 columns of one channel, whose nine weights are in registers.
import triton
import triton.language as tl


# @launch convolve[(batch * channels, ceil_div(height, ROWS), ceil_div(width, COLS))](x, w, y, channels, height, width, ROWS=8, COLS=32)
@triton.jit
def convolve(x, w, y, channels, height, width, ROWS: tl.constexpr, COLS: tl.constexpr):
    plane = tl.program_id(0)
    channel = plane % channels
    i = (tl.program_id(1) * ROWS + tl.arange(0, ROWS))[:, None]
    j = (tl.program_id(2) * COLS + tl.arange(0, COLS))[None, :]
    total = tl.zeros((ROWS, COLS), tl.float32)
    for u in tl.static_range(3):
        r = i + u - 1
        for v in tl.static_range(3):
            s = j + v - 1
            inside = (r >= 0) & (r < height) & (s >= 0) & (s < width)
            value = tl.load(x + (plane * height + r) * width + s, mask=inside, other=0.0)
            total += value * tl.load(w + channel * 9 + u * 3 + v)
    tl.store(y + (plane * height + i) * width + j, total, mask=(i < height) & (j < width))
