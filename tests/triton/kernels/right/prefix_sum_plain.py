# task: prefix_sum expect: ok
# Sums of blocks, a scan of these sums by one program, then a scan of each block from where it begins.
import triton
import triton.language as tl


# @scratch part float32[ceil_div(n, 1024)]
# @launch block_sums[(ceil_div(n, BLOCK),)](x, part, n, BLOCK=1024)
@triton.jit
def block_sums(x, part, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(part + tl.program_id(0), tl.sum(tl.load(x + at, mask=at < n, other=0.0), 0))


# @scratch before float32[ceil_div(n, 1024)]
# @launch scan_sums[(1,)](part, before, part.size, BLOCK=1024)
@triton.jit
def scan_sums(part, before, n, BLOCK: tl.constexpr):
    total = 0.0
    for first in range(0, n, BLOCK):
        at = first + tl.arange(0, BLOCK)
        value = tl.load(part + at, mask=at < n, other=0.0)
        tl.store(before + at, total + tl.cumsum(value, 0) - value, mask=at < n)
        total += tl.sum(value, 0)


# @launch scan_blocks[(ceil_div(n, BLOCK),)](x, before, y, n, BLOCK=1024)
@triton.jit
def scan_blocks(x, before, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n, other=0.0)
    tl.store(y + at, tl.load(before + tl.program_id(0)) + tl.cumsum(value, 0), mask=at < n)
