# task: bias_relu expect: ok
# A tile of eight rows and 128 columns a program, which reads the bias once.
import triton
import triton.language as tl


# @launch bias_relu[(ceil_div(rows, ROWS), ceil_div(cols, COLS))](x, b, y, rows, cols, ROWS=8, COLS=128)
@triton.jit
def bias_relu(x, b, y, rows, cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    col = tl.program_id(1) * COLS + tl.arange(0, COLS)
    inside = (row < rows)[:, None] & (col < cols)[None, :]
    at = row[:, None] * cols + col[None, :]
    bias = tl.load(b + col, mask=col < cols, other=0.0)
    value = tl.load(x + at, mask=inside, other=0.0) + bias[None, :]
    tl.store(y + at, tl.maximum(value, 0.0), mask=inside)
