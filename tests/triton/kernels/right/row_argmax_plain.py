# task: row_argmax expect: ok
# One row a program; of equal elements Triton takes the first.
import triton
import triton.language as tl


# @launch greatest[(rows,)](x, y, cols, BLOCK=next_pow2(cols))
@triton.jit
def greatest(x, y, cols, BLOCK: tl.constexpr):
    col = tl.arange(0, BLOCK)
    value = tl.load(x + tl.program_id(0) * cols + col, mask=col < cols, other=float("-inf"))
    tl.store(y + tl.program_id(0), tl.argmax(value, 0))
