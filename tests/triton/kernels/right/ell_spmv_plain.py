# task: ell_spmv expect: ok
# One row a lane, which goes through its elements.
import triton
import triton.language as tl


# @launch multiply[(ceil_div(rows, ROWS),)](vals, at, x, y, rows, width, ROWS=64, num_warps=2)
@triton.jit
def multiply(vals, at, x, y, rows, width, ROWS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    real = row < rows
    total = tl.zeros((ROWS,), tl.float32)
    for j in range(width):
        column = tl.load(at + row * width + j, mask=real, other=0)
        total += tl.load(vals + row * width + j, mask=real, other=0.0) * tl.load(x + column, mask=real, other=0.0)
    tl.store(y + row, total, mask=real)
