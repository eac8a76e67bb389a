# task: stencil_1d expect: ok
# Blocks inside take a path without masks, and multiply by a third.
import triton
import triton.language as tl


@triton.jit
def third_of_sum(left, middle, right):
    return (left + middle + right) * (1.0 / 3.0)


# @launch average[(ceil_div(n, BLOCK),)](x, y, n, BLOCK=1024)
@triton.jit
def average(x, y, n, BLOCK: tl.constexpr):
    first = tl.program_id(0) * BLOCK
    at = first + tl.arange(0, BLOCK)
    if (first > 0) & (first + BLOCK < n):
        tl.store(y + at, third_of_sum(tl.load(x + at - 1), tl.load(x + at), tl.load(x + at + 1)))
    else:
        left = tl.load(x + at - 1, mask=(at > 0) & (at <= n), other=0.0)
        middle = tl.load(x + at, mask=at < n, other=0.0)
        right = tl.load(x + at + 1, mask=at + 1 < n, other=0.0)
        tl.store(y + at, third_of_sum(left, middle, right), mask=at < n)
