# task: row_cumsum expect: ok
# One row a program, held in registers.
import triton
import triton.language as tl


# @launch scan[(rows,)](x, y, cols, BLOCK=next_pow2(cols))
@triton.jit
def scan(x, y, cols, BLOCK: tl.constexpr):
    col = tl.arange(0, BLOCK)
    at = tl.program_id(0) * cols + col
    tl.store(y + at, tl.cumsum(tl.load(x + at, mask=col < cols, other=0.0), 0), mask=col < cols)
