# task: matmul_half expect: ok
# Four programs a tile share the sum over k, and add their parts atomically.
import triton
import triton.language as tl


# @launch clear[(ceil_div(m * n, BLOCK),)](c, m * n, BLOCK=1024)
@triton.jit
def clear(c, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(c + at, tl.zeros((BLOCK,), tl.float32), mask=at < size)


# @launch multiply[(ceil_div(m, TILE), ceil_div(n, TILE), PARTS)](a, b, c, m, n, k, TILE=32, PARTS=4)
@triton.jit
def multiply(a, b, c, m, n, k, TILE: tl.constexpr, PARTS: tl.constexpr):
    row = (tl.program_id(0) * TILE + tl.arange(0, TILE))[:, None]
    col = (tl.program_id(1) * TILE + tl.arange(0, TILE))[None, :]
    total = tl.zeros((TILE, TILE), tl.float32)
    for first in range(tl.program_id(2) * TILE, k, PARTS * TILE):
        e = first + tl.arange(0, TILE)
        left = tl.load(a + row * k + e[None, :], mask=(row < m) & (e < k)[None, :], other=0.0)
        right = tl.load(b + e[:, None] * n + col, mask=(e < k)[:, None] & (col < n), other=0.0)
        total = tl.dot(left, right, total)
    tl.atomic_add(c + row * n + col, total, mask=(row < m) & (col < n), sem="relaxed")
