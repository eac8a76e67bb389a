# task: prefix_sum expect: ok
# Blocks of 4096 in two launches: each program adds up the sums of the blocks before it.
import triton
import triton.language as tl


# @scratch part float32[ceil_div(n, 4096)]
# @launch block_sums[(ceil_div(n, BLOCK),)](x, part, n, BLOCK=4096, num_warps=8)
@triton.jit
def block_sums(x, part, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(part + tl.program_id(0), tl.sum(tl.load(x + at, mask=at < n, other=0.0), 0))


# @launch scan_blocks[(ceil_div(n, BLOCK),)](x, part, y, n, BLOCK=4096, SUMS=1024, num_warps=8)
@triton.jit
def scan_blocks(x, part, y, n, BLOCK: tl.constexpr, SUMS: tl.constexpr):
    block = tl.program_id(0)
    sums = tl.zeros((SUMS,), tl.float32)
    for first in range(0, block, SUMS):
        other = first + tl.arange(0, SUMS)
        sums += tl.load(part + other, mask=other < block, other=0.0)
    at = block * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n, other=0.0)
    tl.store(y + at, tl.sum(sums, 0) + tl.cumsum(value, 0), mask=at < n)
