# task: row_sum expect: wrong_result
# A fixed block covers the columns of the shown cases, but no wider rows.
import triton
import triton.language as tl


# @launch row_sum[(rows,)](x, y, cols)
@triton.jit
def row_sum(x, y, cols):
    row = tl.program_id(0)
    i = tl.arange(0, 256)
    tl.store(y + row, tl.sum(tl.load(x + row * cols + i, i < cols, other=0.0), 0))
