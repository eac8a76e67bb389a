# task: row_argmax expect: wrong_result
# The last of equal elements instead of the first.
import triton
import triton.language as tl


# @launch argmax[(rows,)](x, y, cols, BLOCK=next_pow2(cols))
@triton.jit
def argmax(x, y, cols, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + tl.program_id(0) * cols + i, i < cols, other=-float("inf"))
    tl.store(y + tl.program_id(0), tl.max(tl.where(v == tl.max(v, 0), i, -1), 0))
