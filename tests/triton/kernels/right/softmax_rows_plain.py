# task: softmax_rows expect: ok
# One row a program, held in registers.
import triton
import triton.language as tl


# @launch softmax[(rows,)](x, y, cols, BLOCK=next_pow2(cols))
@triton.jit
def softmax(x, y, cols, BLOCK: tl.constexpr):
    col = tl.arange(0, BLOCK)
    at = tl.program_id(0) * cols + col
    value = tl.load(x + at, mask=col < cols, other=float("-inf"))
    power = tl.exp(value - tl.max(value, 0))
    tl.store(y + at, power / tl.sum(power, 0), mask=col < cols)
