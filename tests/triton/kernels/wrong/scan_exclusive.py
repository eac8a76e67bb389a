# task: row_cumsum expect: wrong_result
# An exclusive scan where an inclusive one is due.
import triton
import triton.language as tl


# @launch scan[(rows,)](x, y, cols, BLOCK=next_pow2(cols))
@triton.jit
def scan(x, y, cols, BLOCK: tl.constexpr):
    at = tl.program_id(0) * cols + tl.arange(0, BLOCK)
    v = tl.load(x + at, tl.arange(0, BLOCK) < cols, other=0.0)
    tl.store(y + at, tl.cumsum(v, 0) - v, tl.arange(0, BLOCK) < cols)
