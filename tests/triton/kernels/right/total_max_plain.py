# task: total_max expect: ok
# The maximum of each block in scratch memory, then that of these.
import triton
import triton.language as tl


# @scratch part float32[ceil_div(N, 1024)]
# @launch block_maxima[(ceil_div(N, BLOCK),)](a, part, N, BLOCK=1024)
@triton.jit
def block_maxima(a, part, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(part + tl.program_id(0), tl.max(tl.load(a + at, mask=at < n, other=float("-inf")), 0))


# @launch greatest[(1,)](part, res, part.size, BLOCK=1024)
@triton.jit
def greatest(part, res, n, BLOCK: tl.constexpr):
    top = tl.full((BLOCK,), float("-inf"), tl.float32)
    for first in range(0, n, BLOCK):
        at = first + tl.arange(0, BLOCK)
        top = tl.maximum(top, tl.load(part + at, mask=at < n, other=float("-inf")))
    tl.store(res, tl.max(top, 0))
