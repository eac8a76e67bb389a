# task: softmax_matmul expect: ok
# A tile of outputs a program; the softmax is rescaled as its rows are read.
import triton
import triton.language as tl


# @launch multiply[(ceil_div(m, ROWS), ceil_div(n, COLS))](s, v, y, m, n, k, ROWS=16, COLS=32, DEPTH=16)
@triton.jit
def multiply(s, v, y, m, n, k, ROWS: tl.constexpr, COLS: tl.constexpr, DEPTH: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    col = tl.program_id(1) * COLS + tl.arange(0, COLS)
    top = tl.full((ROWS,), -1e38, tl.float32)
    sums = tl.zeros((ROWS,), tl.float32)
    total = tl.zeros((ROWS, COLS), tl.float32)
    for first in range(0, k, DEPTH):
        e = first + tl.arange(0, DEPTH)
        value = tl.load(s + row[:, None] * k + e[None, :], mask=(row < m)[:, None] & (e < k)[None, :],
                        other=float("-inf"))
        right = tl.load(v + e[:, None] * n + col[None, :], mask=(e < k)[:, None] & (col < n)[None, :], other=0.0)
        higher = tl.maximum(top, tl.max(value, 1))
        power = tl.exp(value - higher[:, None])
        old = tl.exp(top - higher)
        sums = sums * old + tl.sum(power, 1)
        total = tl.dot(power, right, total * old[:, None], input_precision="ieee")
        top = higher
    tl.store(y + row[:, None] * n + col[None, :], total / sums[:, None], mask=(row < m)[:, None] & (col < n)[None, :])
