# task: bias_relu expect: wrong_result|runtime_fault
# The bias is broadcast along the wrong axis.
import triton
import triton.language as tl


# @launch bias_relu[(ceil_div(rows, 16), ceil_div(cols, 16))](x, b, y, rows, cols)
@triton.jit
def bias_relu(x, b, y, rows, cols):
    r = tl.program_id(0) * 16 + tl.arange(0, 16)
    c = tl.program_id(1) * 16 + tl.arange(0, 16)
    inside = (r[:, None] < rows) & (c[None, :] < cols)
    at = r[:, None] * cols + c[None, :]
    v = tl.load(x + at, inside) + tl.load(b + r, r < cols, other=0.0)[:, None]
    tl.store(y + at, tl.maximum(v, 0.0), inside)
