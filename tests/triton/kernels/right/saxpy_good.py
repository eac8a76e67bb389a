# task: saxpy expect: ok
# Full blocks take a path without masks; only the last one has one.
import triton
import triton.language as tl


# @launch saxpy[(ceil_div(n, BLOCK),)](x, b, out, alpha, n, BLOCK=1024, num_warps=8)
@triton.jit
def saxpy(x, b, out, alpha, n, BLOCK: tl.constexpr):
    first = tl.program_id(0) * BLOCK
    at = first + tl.arange(0, BLOCK)
    if first + BLOCK <= n:
        tl.store(out + at, alpha * tl.load(x + at) + tl.load(b + at))
    else:
        inside = at < n
        tl.store(out + at, alpha * tl.load(x + at, mask=inside) + tl.load(b + at, mask=inside), mask=inside)
