# task: histogram expect: ok
# An atomic addition for every key.
import triton
import triton.language as tl


# @launch clear[(1,)](counts, bins, BINS=next_pow2(bins))
@triton.jit
def clear(counts, bins, BINS: tl.constexpr):
    at = tl.arange(0, BINS)
    tl.store(counts + at, tl.zeros((BINS,), tl.int32), mask=at < bins)


# @launch count[(ceil_div(n, BLOCK),)](keys, counts, n, BLOCK=256)
@triton.jit
def count(keys, counts, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    key = tl.load(keys + at, mask=at < n, other=0)
    tl.atomic_add(counts + key, 1, mask=at < n, sem="relaxed")
