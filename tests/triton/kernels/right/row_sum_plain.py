# task: row_sum expect: ok
# One row a program, in blocks.
import triton
import triton.language as tl


# @launch add_up[(rows,)](x, y, cols, BLOCK=128)
@triton.jit
def add_up(x, y, cols, BLOCK: tl.constexpr):
    total = 0.0
    for first in range(0, cols, BLOCK):
        col = first + tl.arange(0, BLOCK)
        total += tl.sum(tl.load(x + tl.program_id(0) * cols + col, mask=col < cols, other=0.0), 0)
    tl.store(y + tl.program_id(0), total)
