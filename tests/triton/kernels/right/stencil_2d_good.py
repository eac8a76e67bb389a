# task: stencil_2d expect: ok
# Tiles of 8 by 64 without divisions; neighbouring rows come from the cache.
import triton
import triton.language as tl


# @launch laplacian[(ceil_div(cols, COLS), ceil_div(rows, ROWS))](x, y, rows, cols, ROWS=8, COLS=64)
@triton.jit
def laplacian(x, y, rows, cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    r = (tl.program_id(1) * ROWS + tl.arange(0, ROWS))[:, None]
    c = (tl.program_id(0) * COLS + tl.arange(0, COLS))[None, :]
    at = r * cols + c
    inside = (r < rows) & (c < cols)
    middle = tl.load(x + at, mask=inside, other=0.0)
    above = tl.load(x + at - cols, mask=inside & (r > 0), other=0.0)
    below = tl.load(x + at + cols, mask=inside & (r + 1 < rows), other=0.0)
    left = tl.load(x + at - 1, mask=inside & (c > 0), other=0.0)
    right = tl.load(x + at + 1, mask=inside & (c + 1 < cols), other=0.0)
    tl.store(y + at, above + below + left + right - 4.0 * middle, mask=inside)
