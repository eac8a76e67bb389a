# task: csr_spmv expect: wrong_result
# Only the first 32 elements of a row count.
import triton
import triton.language as tl


# @launch spmv[(rows,)](offsets, vals, at, x, y)
@triton.jit
def spmv(offsets, vals, at, x, y):
    row = tl.program_id(0)
    i = tl.load(offsets + row) + tl.arange(0, 32)
    inside = i < tl.load(offsets + row + 1)
    column = tl.load(at + i, inside, other=0)
    tl.store(y + row, tl.sum(tl.load(vals + i, inside, other=0.0) * tl.load(x + column, inside, other=0.0), 0))
