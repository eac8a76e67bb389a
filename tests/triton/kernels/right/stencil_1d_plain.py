# task: stencil_1d expect: ok
# One block a program, with three loads.
import triton
import triton.language as tl


# @launch average[(ceil_div(n, BLOCK),)](x, y, n, BLOCK=512)
@triton.jit
def average(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    left = tl.load(x + at - 1, mask=inside & (at > 0), other=0.0)
    right = tl.load(x + at + 1, mask=at + 1 < n, other=0.0)
    tl.store(y + at, (left + tl.load(x + at, mask=inside) + right) / 3.0, mask=inside)
