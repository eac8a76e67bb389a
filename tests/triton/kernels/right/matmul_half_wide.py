# task: matmul_half expect: ok
# Tiles of 128 by 128 over eight warps, in groups that share what the cache holds.
import triton
import triton.language as tl


@triton.jit
def tile_of_group(m, n, ROWS: tl.constexpr, COLS: tl.constexpr, GROUP: tl.constexpr):
    across = tl.cdiv(n, COLS)
    first = tl.program_id(0) // (GROUP * across) * GROUP
    height = min(tl.cdiv(m, ROWS) - first, GROUP)
    place = tl.program_id(0) % (GROUP * across)
    return first + place % height, place // height


# @launch multiply[(ceil_div(m, ROWS) * ceil_div(n, COLS),)](a, b, c, m, n, k, ROWS=128, COLS=128, DEPTH=32, GROUP=8, num_warps=8, num_stages=3)
@triton.jit
def multiply(a, b, c, m, n, k, ROWS: tl.constexpr, COLS: tl.constexpr, DEPTH: tl.constexpr, GROUP: tl.constexpr):
    tile_row, tile_col = tile_of_group(m, n, ROWS, COLS, GROUP)
    row = (tile_row * ROWS + tl.arange(0, ROWS))[:, None]
    col = (tile_col * COLS + tl.arange(0, COLS))[None, :]
    e = tl.arange(0, DEPTH)
    left_at = a + row * k + e[None, :]
    right_at = b + e[:, None] * n + col
    total = tl.zeros((ROWS, COLS), tl.float32)
    for first in range(0, k, DEPTH):
        left = tl.load(left_at, mask=(row < m) & (e < k - first)[None, :], other=0.0)
        right = tl.load(right_at, mask=(e < k - first)[:, None] & (col < n), other=0.0)
        total = tl.dot(left, right, total)
        left_at += DEPTH
        right_at += DEPTH * n
    tl.store(c + row * n + col, total, mask=(row < m) & (col < n))
