# task: matmul_int8 expect: ok
# Tiles of 64 by 64 and 64 bytes along k, with loads ahead of the products.
import triton
import triton.language as tl


# @launch multiply[(ceil_div(m, ROWS), ceil_div(n, COLS))](a, b, c, m, n, 4 * words, ROWS=64, COLS=64, DEPTH=64, num_warps=4, num_stages=3)
@triton.jit
def multiply(a, b, c, m, n, k, ROWS: tl.constexpr, COLS: tl.constexpr, DEPTH: tl.constexpr):
    p = a.to(tl.pointer_type(tl.int8))
    q = b.to(tl.pointer_type(tl.int8))
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    col = tl.program_id(1) * COLS + tl.arange(0, COLS)
    e = tl.arange(0, DEPTH)
    total = tl.zeros((ROWS, COLS), tl.int32)
    for first in range(0, k, DEPTH):
        inside = (e < k - first)[None, :]
        left = tl.load(p + row[:, None] * k + (first + e)[None, :], mask=(row < m)[:, None] & inside, other=0)
        right = tl.load(q + col[:, None] * k + (first + e)[None, :], mask=(col < n)[:, None] & inside, other=0)
        total = tl.dot(left, right.T, total, out_dtype=tl.int32)
    tl.store(c + row[:, None] * n + col[None, :], total, mask=(row < m)[:, None] & (col < n)[None, :])
