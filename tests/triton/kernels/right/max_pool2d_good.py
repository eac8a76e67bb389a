# task: max_pool2d expect: ok
# A tile of outputs a program, numbered through all planes, so that small ones fill it too.
import triton
import triton.language as tl


# @launch pool[(ceil_div(planes * high, ROWS), ceil_div(wide, COLS))](x, y, planes * high, height, width, high, wide, ROWS=8, COLS=32)
@triton.jit
def pool(x, y, rows, height, width, high, wide, ROWS: tl.constexpr, COLS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    plane = row // high
    i = row % high
    j = tl.program_id(1) * COLS + tl.arange(0, COLS)
    top = tl.full((ROWS, COLS), float("-inf"), tl.float32)
    for u in tl.static_range(3):
        r = 2 * i + u - 1
        real = (row < rows) & (r >= 0) & (r < height)
        for v in tl.static_range(3):
            s = 2 * j + v - 1
            inside = real[:, None] & ((s >= 0) & (s < width))[None, :]
            at = (plane * height + r)[:, None] * width + s[None, :]
            top = tl.maximum(top, tl.load(x + at, mask=inside, other=float("-inf")))
    tl.store(y + row[:, None] * wide + j[None, :], top, mask=(row < rows)[:, None] & (j < wide)[None, :])
