# task: transpose expect: wrong_result|runtime_fault
# Strides of rows and columns are confused: right for square matrices.
import triton
import triton.language as tl


# @launch transpose[(ceil_div(cols, 32), ceil_div(rows, 32))](x, y, rows, cols)
@triton.jit
def transpose(x, y, rows, cols):
    r = tl.program_id(1) * 32 + tl.arange(0, 32)[:, None]
    c = tl.program_id(0) * 32 + tl.arange(0, 32)[None, :]
    inside = (r < rows) & (c < cols)
    tl.store(y + c * cols + r, tl.load(x + r * cols + c, inside), inside)
