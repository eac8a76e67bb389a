# task: matmul_int8 expect: ok
# A tile of 32 by 32 a program; the packed words are read as bytes.
import triton
import triton.language as tl


# @launch multiply[(ceil_div(n, TILE), ceil_div(m, TILE))](a, b, c, m, n, 4 * words, TILE=32)
@triton.jit
def multiply(a, b, c, m, n, k, TILE: tl.constexpr):
    p = a.to(tl.pointer_type(tl.int8))
    q = b.to(tl.pointer_type(tl.int8))
    row = (tl.program_id(1) * TILE + tl.arange(0, TILE))[:, None]
    col = (tl.program_id(0) * TILE + tl.arange(0, TILE))[None, :]
    total = tl.zeros((TILE, TILE), tl.int32)
    for first in range(0, k, TILE):
        e = first + tl.arange(0, TILE)
        left = tl.load(p + row * k + e[None, :], mask=(row < m) & (e < k)[None, :], other=0)
        right = tl.load(q + col * k + e[:, None], mask=(e < k)[:, None] & (col < n), other=0)
        total += tl.dot(left, right)
    tl.store(c + row * n + col, total, mask=(row < m) & (col < n))
