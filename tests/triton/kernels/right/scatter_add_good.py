# task: scatter_add expect: ok
# A tile of rows a program with relaxed atomics, which nothing has to be ordered with.
import triton
import triton.language as tl


# @launch clear[(ceil_div(count * dim, BLOCK),)](y, count * dim, BLOCK=1024)
@triton.jit
def clear(y, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.zeros((BLOCK,), tl.float32), mask=at < size)


# @launch add[(ceil_div(n, ROWS), ceil_div(dim, COLS))](x, index, y, n, dim, ROWS=8, COLS=64)
@triton.jit
def add(x, index, y, n, dim, ROWS: tl.constexpr, COLS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    col = tl.program_id(1) * COLS + tl.arange(0, COLS)
    inside = (row < n)[:, None] & (col < dim)[None, :]
    bin_of_row = tl.load(index + row, mask=row < n, other=0)
    value = tl.load(x + row[:, None] * dim + col[None, :], mask=inside, other=0.0)
    tl.atomic_add(y + bin_of_row[:, None] * dim + col[None, :], value, mask=inside, sem="relaxed")
