# task: gather_rows expect: ok
# One row a program, in blocks of its columns.
import triton
import triton.language as tl


# @launch gather[(rows,)](x, order, y, cols, BLOCK=256)
@triton.jit
def gather(x, order, y, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    chosen = tl.load(order + row)
    for first in range(0, cols, BLOCK):
        col = first + tl.arange(0, BLOCK)
        tl.store(y + row * cols + col, tl.load(x + chosen * cols + col, mask=col < cols), mask=col < cols)
