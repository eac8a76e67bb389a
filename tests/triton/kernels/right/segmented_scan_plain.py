# task: segmented_scan expect: ok
# Sums since the last flag of blocks, a scan of these by one program, then a scan of each block.
import triton
import triton.language as tl


@triton.jit
def join(left_flag, left_sum, right_flag, right_sum):
    return left_flag | right_flag, tl.where(right_flag != 0, right_sum, left_sum + right_sum)


# @scratch block_flag int32[ceil_div(n, 1024)]
# @scratch block_sum int32[ceil_div(n, 1024)]
# @launch scan_blocks[(ceil_div(n, BLOCK),)](x, flags, y, block_flag, block_sum, n, BLOCK=1024)
@triton.jit
def scan_blocks(x, flags, y, block_flag, block_sum, n, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    at = tl.program_id(0) * BLOCK + lane
    flag = (tl.load(flags + at, mask=at < n, other=0) != 0).to(tl.int32)
    flag, total = tl.associative_scan((flag, tl.load(x + at, mask=at < n, other=0)), 0, join)
    tl.store(y + at, total, mask=at < n)
    tl.store(block_flag + tl.program_id(0), tl.max(flag, 0))
    tl.store(block_sum + tl.program_id(0), tl.sum(tl.where(lane == BLOCK - 1, total, 0), 0))


# @scratch before int32[ceil_div(n, 1024)]
# @launch scan_sums[(1,)](block_flag, block_sum, before, before.size)
@triton.jit
def scan_sums(block_flag, block_sum, before, blocks):
    total = 0
    for block in range(blocks):
        tl.store(before + block, total)
        own = tl.load(block_sum + block)
        total = tl.where(tl.load(block_flag + block) != 0, own, total + own)


# @launch add_before[(ceil_div(n, BLOCK),)](flags, before, y, n, BLOCK=1024)
@triton.jit
def add_before(flags, before, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    flag = (tl.load(flags + at, mask=at < n, other=0) != 0).to(tl.int32)
    open_yet = (at < n) & (tl.cumsum(flag, 0) == 0)
    tl.store(y + at, tl.load(y + at, mask=open_yet) + tl.load(before + tl.program_id(0)), mask=open_yet)
