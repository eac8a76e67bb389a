# task: transpose expect: wrong_result|runtime_fault
# Claims that a strided access is contiguous.
import triton
import triton.language as tl


# @launch transpose[(ceil_div(rows * cols, 256),)](x, y, rows, cols)
@triton.jit
def transpose(x, y, rows, cols):
    i = tl.program_id(0) * 256 + tl.arange(0, 256)
    at = tl.max_contiguous(tl.multiple_of((i % rows) * cols + i // rows, 256), 256)
    tl.store(y + i, tl.load(x + at, i < rows * cols), i < rows * cols)
