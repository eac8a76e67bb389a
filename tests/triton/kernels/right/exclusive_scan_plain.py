# task: exclusive_scan expect: ok
# Sums of blocks, a scan of these sums by one program, then a scan of each block from where it begins.
import triton
import triton.language as tl


# @scratch part int32[ceil_div(n, 1024)]
# @launch block_sums[(ceil_div(n, BLOCK),)](counts, part, n, BLOCK=1024)
@triton.jit
def block_sums(counts, part, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(part + tl.program_id(0), tl.sum(tl.load(counts + at, mask=at < n, other=0), 0))


# @launch scan_sums[(1,)](part, part.size, BLOCK=1024)
@triton.jit
def scan_sums(part, n, BLOCK: tl.constexpr):
    before = 0
    for first in range(0, n, BLOCK):
        at = first + tl.arange(0, BLOCK)
        count = tl.load(part + at, mask=at < n, other=0)
        tl.store(part + at, before + tl.cumsum(count, 0) - count, mask=at < n)
        before += tl.sum(count, 0)


# @launch scan_blocks[(ceil_div(n, BLOCK),)](counts, part, offsets, n, BLOCK=1024)
@triton.jit
def scan_blocks(counts, part, offsets, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    count = tl.load(counts + at, mask=at < n, other=0)
    before = tl.load(part + tl.program_id(0))
    tl.store(offsets + at, before + tl.cumsum(count, 0) - count, mask=at < n)
