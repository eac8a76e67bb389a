# task: csr_spmv expect: ok
# Eight lanes a row and sixteen rows a program, until the longest of these rows is done.
import triton
import triton.language as tl


# @launch multiply[(ceil_div(rows, ROWS),)](offsets, vals, at, x, y, rows, ROWS=16, LANES=8)
@triton.jit
def multiply(offsets, vals, at, x, y, rows, ROWS: tl.constexpr, LANES: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    real = row < rows
    begin = tl.load(offsets + row, mask=real, other=0)
    end = tl.load(offsets + row + 1, mask=real, other=0)
    products = tl.zeros((ROWS, LANES), tl.float32)
    for first in range(0, tl.max(end - begin, 0), LANES):
        k = begin[:, None] + first + tl.arange(0, LANES)[None, :]
        inside = k < end[:, None]
        column = tl.load(at + k, mask=inside, other=0)
        products += tl.load(vals + k, mask=inside, other=0.0) * tl.load(x + column, mask=inside, other=0.0)
    tl.store(y + row, tl.sum(products, 1), mask=real)
