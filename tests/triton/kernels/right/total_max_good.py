# task: total_max expect: ok
# A fixed number of programs keep maxima of strided blocks, and join them by an atomic maximum.
import triton
import triton.language as tl


# @launch clear[(1,)](res)
@triton.jit
def clear(res):
    tl.store(res, float("-inf"))


# @launch greatest[(min(ceil_div(N, BLOCK), 256),)](a, res, N, BLOCK=1024)
@triton.jit
def greatest(a, res, n, BLOCK: tl.constexpr):
    top = tl.full((BLOCK,), float("-inf"), tl.float32)
    for first in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        at = first + tl.arange(0, BLOCK)
        top = tl.maximum(top, tl.load(a + at, mask=at < n, other=float("-inf")))
    tl.atomic_max(res, tl.max(top, 0), sem="relaxed")
