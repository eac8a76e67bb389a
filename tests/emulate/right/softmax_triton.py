# emulate: --launch 'softmax[(8,)](x, y, cols, BLOCK=128)' --buffer x=f32[8,100]:7 --buffer y=f32[8,100] --value cols=100
# holds: y = 0.01 0.01 0.01 0.01
# One program per row; the columns beyond the row count as minus infinity.
import triton
import triton.language as tl


@triton.jit
def softmax(x, y, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < cols
    value = tl.load(x + row * cols + column, mask=inside, other=-float("inf"))
    value = tl.exp(value - tl.max(value, 0))
    tl.store(y + row * cols + column, value / tl.sum(value, 0), mask=inside)
