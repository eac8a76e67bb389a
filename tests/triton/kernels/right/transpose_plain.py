# task: transpose expect: ok
# One output a lane, which finds its row and column by division.
import triton
import triton.language as tl


# @launch transpose[(ceil_div(rows * cols, BLOCK),)](x, y, rows, cols, BLOCK=256)
@triton.jit
def transpose(x, y, rows, cols, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < rows * cols
    tl.store(y + at, tl.load(x + (at % rows) * cols + at // rows, mask=inside), mask=inside)
