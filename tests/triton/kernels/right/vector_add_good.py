# task: vector_add expect: ok
# A path without masks for full blocks, whose loads are of 16 bytes whatever the length is.
import triton
import triton.language as tl


# @launch add[(ceil_div(n, BLOCK),)](a, b, out, n, BLOCK=1024, num_warps=8)
@triton.jit
def add(a, b, out, n, BLOCK: tl.constexpr):
    first = tl.multiple_of(tl.program_id(0) * BLOCK, BLOCK)
    at = first + tl.max_contiguous(tl.arange(0, BLOCK), BLOCK)
    if first + BLOCK <= n:
        tl.store(out + at, tl.load(a + at) + tl.load(b + at))
    else:
        inside = at < n
        tl.store(out + at, tl.load(a + at, mask=inside) + tl.load(b + at, mask=inside), mask=inside)
