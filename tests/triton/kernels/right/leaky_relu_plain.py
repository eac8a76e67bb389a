# task: leaky_relu expect: ok
# One block of elements a program.
import triton
import triton.language as tl


# @launch leaky_relu[(ceil_div(n, BLOCK),)](p, q, slope, n, BLOCK=512)
@triton.jit
def leaky_relu(p, q, slope, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    value = tl.load(p + at, mask=inside)
    tl.store(q + at, tl.maximum(value, slope * value), mask=inside)
