# task: histogram expect: ok
# Each program counts its keys in registers, and adds its counts atomically at the end.
import triton
import triton.language as tl


# @launch clear[(1,)](counts, bins, BINS=next_pow2(bins))
@triton.jit
def clear(counts, bins, BINS: tl.constexpr):
    at = tl.arange(0, BINS)
    tl.store(counts + at, tl.zeros((BINS,), tl.int32), mask=at < bins)


# @launch count[(min(ceil_div(n, BLOCK), 128),)](keys, counts, n, bins, BLOCK=1024, BINS=next_pow2(bins))
@triton.jit
def count(keys, counts, n, bins, BLOCK: tl.constexpr, BINS: tl.constexpr):
    found = tl.zeros((BINS,), tl.int32)
    for first in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        at = first + tl.arange(0, BLOCK)
        key = tl.load(keys + at, mask=at < n, other=0)
        found += tl.histogram(key, BINS, mask=at < n)
    at = tl.arange(0, BINS)
    tl.atomic_add(counts + at, found, mask=at < bins, sem="relaxed")
