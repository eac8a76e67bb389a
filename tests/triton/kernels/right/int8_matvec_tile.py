# task: int8_matvec expect: ok
# Weights are read as bytes by two warps, whose sums meet in shared memory.
import triton
import triton.language as tl


# @launch multiply[(ceil_div(rows, ROWS),)](packed, scale, x, y, rows, cols, ROWS=4, COLS=256, num_warps=2)
@triton.jit
def multiply(packed, scale, x, y, rows, cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    weights = packed.to(tl.pointer_type(tl.int8))
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    sums = tl.zeros((ROWS, COLS), tl.float32)
    for first in range(0, cols, COLS):
        col = first + tl.arange(0, COLS)
        factor = tl.load(x + col, mask=col < cols, other=0.0)
        inside = (row < rows)[:, None] & (col < cols)[None, :]
        weight = tl.load(weights + row[:, None] * cols + col[None, :], mask=inside, other=0)
        sums += weight.to(tl.float32) * factor[None, :]
    tl.store(y + row, tl.load(scale + row, mask=row < rows, other=0.0) * tl.sum(sums, 1), mask=row < rows)
