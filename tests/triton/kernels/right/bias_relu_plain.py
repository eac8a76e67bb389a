# task: bias_relu expect: ok
# One row a program, in blocks of columns.
import triton
import triton.language as tl


# @launch bias_relu[(rows, ceil_div(cols, BLOCK))](x, b, y, cols, BLOCK=256)
@triton.jit
def bias_relu(x, b, y, cols, BLOCK: tl.constexpr):
    col = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    at = tl.program_id(0) * cols + col
    value = tl.load(x + at, mask=col < cols) + tl.load(b + col, mask=col < cols)
    tl.store(y + at, tl.maximum(value, 0.0), mask=col < cols)
