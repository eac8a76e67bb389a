# task: matmul_half expect: ok
# Block pointers that advance along k, with bounds that Triton checks.
import triton
import triton.language as tl


# @launch multiply[(ceil_div(m, TILE), ceil_div(n, TILE))](a, b, c, m, n, k, TILE=32)
@triton.jit
def tile_of(base, rows, cols, row, col, TILE: tl.constexpr):
    return tl.make_block_ptr(base, shape=(rows, cols), strides=(cols, 1), offsets=(row, col),
                             block_shape=(TILE, TILE), order=(1, 0))


@triton.jit
def multiply(a, b, c, m, n, k, TILE: tl.constexpr):
    row = tl.program_id(0) * TILE
    col = tl.program_id(1) * TILE
    left = tile_of(a, m, k, row, 0, TILE)
    right = tile_of(b, k, n, 0, col, TILE)
    total = tl.zeros((TILE, TILE), tl.float32)
    for _ in range(0, k, TILE):
        total = tl.dot(tl.load(left, boundary_check=(0, 1), padding_option="zero"),
                       tl.load(right, boundary_check=(0, 1), padding_option="zero"), total)
        left = tl.advance(left, (0, TILE))
        right = tl.advance(right, (TILE, 0))
    tl.store(tile_of(c, m, n, row, col, TILE), total, boundary_check=(0, 1))
