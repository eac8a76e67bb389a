# task: sigmoid expect: ok
# Blocks of 1024 with the exponential to the base 2, which the hardware has.
import triton
import triton.language as tl


LOG2_E = tl.constexpr(1.4426950408889634)


# @launch logistic[(ceil_div(count, BLOCK),)](x, y, count, BLOCK=1024)
@triton.jit
def logistic(x, y, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    value = tl.load(x + at, mask=inside, other=0.0)
    tl.store(y + at, 1.0 / (1.0 + tl.exp2(value * -LOG2_E)), mask=inside)
