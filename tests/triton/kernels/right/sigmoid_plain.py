# task: sigmoid expect: ok
# One block of elements a program, by the definition.
import triton
import triton.language as tl


# @launch logistic[(ceil_div(count, BLOCK),)](x, y, count, BLOCK=512)
@triton.jit
def logistic(x, y, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    tl.store(y + at, 1.0 / (1.0 + tl.exp(-tl.load(x + at, mask=inside))), mask=inside)
