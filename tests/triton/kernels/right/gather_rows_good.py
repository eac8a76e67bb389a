# task: gather_rows expect: ok
# A tile of four rows and 128 columns a program, all of whose reads are under way at once.
import triton
import triton.language as tl


# @launch gather[(ceil_div(cols, COLS), ceil_div(rows, ROWS))](x, order, y, rows, cols, ROWS=4, COLS=128)
@triton.jit
def gather(x, order, y, rows, cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    col = tl.program_id(0) * COLS + tl.arange(0, COLS)
    inside = (row < rows)[:, None] & (col < cols)[None, :]
    chosen = tl.load(order + row, mask=row < rows, other=0)
    value = tl.load(x + chosen[:, None] * cols + col[None, :], mask=inside)
    tl.store(y + row[:, None] * cols + col[None, :], value, mask=inside)
