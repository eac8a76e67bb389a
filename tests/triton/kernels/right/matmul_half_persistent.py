# task: matmul_half expect: ok
# A fixed number of programs, each of which computes one tile after another.
import triton
import triton.language as tl


# @launch matmul_persistent[(min(ceil_div(m, ROWS) * ceil_div(n, COLS), 16),)](a, b, c, m, n, k, ROWS=32, COLS=32, DEPTH=32, num_warps=4, num_stages=3)
@triton.jit
def matmul_persistent(a, b, c, m, n, k, ROWS: tl.constexpr, COLS: tl.constexpr, DEPTH: tl.constexpr):
    across = tl.cdiv(n, COLS)
    tiles = tl.cdiv(m, ROWS) * across
    for tile in tl.range(tl.program_id(0), tiles, tl.num_programs(0)):
        row = (tile // across * ROWS + tl.arange(0, ROWS))[:, None]
        col = (tile % across * COLS + tl.arange(0, COLS))[None, :]
        total = tl.zeros((ROWS, COLS), tl.float32)
        for first in range(0, k, DEPTH):
            e = first + tl.arange(0, DEPTH)
            left = tl.load(a + row * k + e[None, :], mask=(row < m) & (e < k)[None, :], other=0.0)
            right = tl.load(b + e[:, None] * n + col, mask=(e < k)[:, None] & (col < n), other=0.0)
            total = tl.dot(left, right, total)
        tl.store(c + row * n + col, total, mask=(row < m) & (col < n))
