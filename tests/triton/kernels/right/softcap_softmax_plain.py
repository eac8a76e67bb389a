# task: softcap_softmax expect: ok
# One row a program, with the tangent of libdevice.
import triton
import triton.language as tl
from triton.language.extra import libdevice


# @launch softmax[(rows,)](x, y, cap, cols, BLOCK=next_pow2(cols))
@triton.jit
def softmax(x, y, cap, cols, BLOCK: tl.constexpr):
    col = tl.arange(0, BLOCK)
    at = tl.program_id(0) * cols + col
    value = cap * libdevice.tanh(tl.load(x + at, mask=col < cols, other=0.0) / cap)
    value = tl.where(col < cols, value, float("-inf"))
    power = tl.exp(value - tl.max(value, 0))
    tl.store(y + at, power / tl.sum(power, 0), mask=col < cols)
