import triton
import triton.language as tl


# @launch softmax[(rows,)](x, y, cols, BLOCK=next_pow2(cols))
@triton.jit
def softmax(x, y, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < cols
    value = tl.load(x + row * cols + column, inside, other=-float("inf"))
    value = tl.exp(value - tl.max(value, 0))
    tl.store(y + row * cols + column, value / tl.sum(value, 0), inside)
