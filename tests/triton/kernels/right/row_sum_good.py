# task: row_sum expect: ok
# Long rows are split among programs, which add their sums atomically.
import triton
import triton.language as tl


# @launch clear[(ceil_div(rows, BLOCK),)](y, rows, BLOCK=256)
@triton.jit
def clear(y, rows, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + row, tl.zeros((BLOCK,), tl.float32), mask=row < rows)


# @launch add_up[(rows, ceil_div(cols, COLS))](x, y, cols, COLS=min(next_pow2(cols), 2048))
@triton.jit
def add_up(x, y, cols, COLS: tl.constexpr):
    row = tl.program_id(0)
    col = tl.program_id(1) * COLS + tl.arange(0, COLS)
    value = tl.load(x + row * cols + col, mask=col < cols, other=0.0)
    tl.atomic_add(y + row, tl.sum(value, 0), sem="relaxed")
