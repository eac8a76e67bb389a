# task: row_sum expect: wrong_result|runtime_fault
# The reduction goes along the other axis.
import triton
import triton.language as tl


# @launch row_sum[(ceil_div(rows, 32), ceil_div(cols, 32))](x, y, rows, cols)
@triton.jit
def row_sum(x, y, rows, cols):
    r = tl.program_id(0) * 32 + tl.arange(0, 32)
    c = tl.program_id(1) * 32 + tl.arange(0, 32)
    v = tl.load(x + r[:, None] * cols + c[None, :], (r[:, None] < rows) & (c[None, :] < cols), other=0.0)
    tl.store(y + c, tl.sum(v, 0), c < rows)
