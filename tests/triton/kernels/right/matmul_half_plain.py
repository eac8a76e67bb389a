# task: matmul_half expect: ok
# A tile of 32 by 32 a program, by tiles of 32 along k.
import triton
import triton.language as tl


# @launch multiply[(ceil_div(n, TILE), ceil_div(m, TILE))](a, b, c, m, n, k, TILE=32)
@triton.jit
def multiply(a, b, c, m, n, k, TILE: tl.constexpr):
    row = (tl.program_id(1) * TILE + tl.arange(0, TILE))[:, None]
    col = (tl.program_id(0) * TILE + tl.arange(0, TILE))[None, :]
    total = tl.zeros((TILE, TILE), tl.float32)
    for first in range(0, k, TILE):
        e = first + tl.arange(0, TILE)
        left = tl.load(a + row * k + e[None, :], mask=(row < m) & (e < k)[None, :], other=0.0)
        right = tl.load(b + e[:, None] * n + col, mask=(e < k)[:, None] & (col < n), other=0.0)
        total += tl.dot(left, right)
    tl.store(c + row * n + col, total, mask=(row < m) & (col < n))
