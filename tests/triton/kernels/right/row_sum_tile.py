# task: row_sum expect: ok
# Tiles of four rows and 512 columns, each of which adds its four sums atomically.
import triton
import triton.language as tl


# @launch clear[(ceil_div(rows, BLOCK),)](y, rows, BLOCK=256)
@triton.jit
def clear(y, rows, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + row, tl.zeros((BLOCK,), tl.float32), mask=row < rows)


# @launch add_up[(ceil_div(rows, ROWS), ceil_div(cols, COLS))](x, y, rows, cols, ROWS=4, COLS=512)
@triton.jit
def add_up(x, y, rows, cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    col = tl.program_id(1) * COLS + tl.arange(0, COLS)
    inside = (row < rows)[:, None] & (col < cols)[None, :]
    value = tl.load(x + row[:, None] * cols + col[None, :], mask=inside, other=0.0)
    tl.atomic_add(y + row, tl.sum(value, 1), mask=row < rows, sem="relaxed")
