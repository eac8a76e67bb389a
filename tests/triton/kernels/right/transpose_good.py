# task: transpose expect: ok
# Tiles of 32 by 32, which are read by rows and stored by columns.
import triton
import triton.language as tl


# @launch transpose[(ceil_div(cols, TILE), ceil_div(rows, TILE))](x, y, rows, cols, TILE=32)
@triton.jit
def transpose(x, y, rows, cols, TILE: tl.constexpr):
    row = tl.program_id(1) * TILE + tl.arange(0, TILE)
    col = tl.program_id(0) * TILE + tl.arange(0, TILE)
    tile = tl.load(x + row[:, None] * cols + col[None, :], mask=(row < rows)[:, None] & (col < cols)[None, :])
    turned = tl.trans(tile)
    tl.store(y + col[:, None] * rows + row[None, :], turned, mask=(col < cols)[:, None] & (row < rows)[None, :])
