# task: rope expect: wrong_result
# Stores its input.
import triton
import triton.language as tl


# @launch copy[(ceil_div(rows * dim, 256),)](x, y, rows * dim)
@triton.jit
def copy(x, y, elements):
    i = tl.program_id(0) * 256 + tl.arange(0, 256)
    tl.store(y + i, tl.load(x + i, i < elements), i < elements)
