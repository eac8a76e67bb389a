# task: vector_add expect: ok
# Eight elements a thread, so that every thread has several loads of 16 bytes under way.
import triton
import triton.language as tl


# @launch add[(ceil_div(n, BLOCK),)](a, b, out, n, BLOCK=1024, num_warps=4)
@triton.jit
def add(a, b, out, n, BLOCK: tl.constexpr):
    first = tl.multiple_of(tl.program_id(0) * BLOCK, BLOCK)
    at = first + tl.max_contiguous(tl.arange(0, BLOCK), BLOCK)
    inside = at < n
    left = tl.load(a + at, mask=inside, other=0.0, eviction_policy="evict_first")
    right = tl.load(b + at, mask=inside, other=0.0, eviction_policy="evict_first")
    tl.store(out + at, left + right, mask=inside, eviction_policy="evict_first")
