# task: axpy_inplace expect: ok
# Blocks of 1024 in place, with an explicit fused multiply-add.
import triton
import triton.language as tl


# @launch axpy[(ceil_div(n, BLOCK),)](x, y, alpha, n, BLOCK=1024)
@triton.jit
def axpy(x, y, alpha, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    added = tl.load(x + at, mask=inside, other=0.0, cache_modifier=".cg")
    kept = tl.load(y + at, mask=inside, other=0.0)
    tl.store(y + at, tl.fma(added, tl.full((BLOCK,), 1.0, tl.float32) * alpha, kept), mask=inside)
