# task: linear_bf16 expect: ok
# Tiles of 64 by 64, four steps of loads ahead; the sums begin with the bias.
import triton
import triton.language as tl


# @launch linear[(ceil_div(m, ROWS), ceil_div(n, COLS))](x, w, bias, y, m, n, k, ROWS=64, COLS=64, DEPTH=32, num_warps=4, num_stages=4)
@triton.jit
def linear(x, w, bias, y, m, n, k, ROWS: tl.constexpr, COLS: tl.constexpr, DEPTH: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    col = tl.program_id(1) * COLS + tl.arange(0, COLS)
    e = tl.arange(0, DEPTH)
    start = tl.load(bias + col, mask=col < n, other=0.0).to(tl.float32)
    total = tl.zeros((ROWS, COLS), tl.float32) + start[None, :]
    for first in range(0, k, DEPTH):
        inside = (e < k - first)[None, :]
        left = tl.load(x + row[:, None] * k + (first + e)[None, :], mask=(row < m)[:, None] & inside, other=0.0)
        right = tl.load(w + col[:, None] * k + (first + e)[None, :], mask=(col < n)[:, None] & inside, other=0.0)
        total = tl.dot(left, tl.trans(right), total)
    tl.store(y + row[:, None] * n + col[None, :], total, mask=(row < m)[:, None] & (col < n)[None, :])
