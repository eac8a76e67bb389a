# task: segmented_scan expect: ok
# One pass with a look-back, which ends at the first block before that has a flag.
import triton
import triton.language as tl


@triton.jit
def join(left_flag, left_sum, right_flag, right_sum):
    return left_flag | right_flag, tl.where(right_flag != 0, right_sum, left_sum + right_sum)


# @scratch ticket int32[1]
# @scratch state int64[ceil_div(n, 1024)]
# @launch clear[(ceil_div(state.size, BLOCK),)](ticket, state, state.size, BLOCK=256)
@triton.jit
def clear(ticket, state, blocks, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(state + at, tl.zeros((BLOCK,), tl.int64), mask=at < blocks)
    tl.store(ticket, 0, mask=tl.program_id(0) == 0)


# @launch scan[(state.size,)](x, flags, y, ticket, state, n, BLOCK=1024)
@triton.jit
def scan(x, flags, y, ticket, state, n, BLOCK: tl.constexpr):
    # A state holds a sum in its low 32 bits; above it 1 if that is of the block, 2 if of all since a flag.
    block = tl.atomic_add(ticket, 1, sem="relaxed")
    lane = tl.arange(0, BLOCK)
    at = block * BLOCK + lane
    flag = (tl.load(flags + at, mask=at < n, other=0) != 0).to(tl.int32)
    flag, total = tl.associative_scan((flag, tl.load(x + at, mask=at < n, other=0)), 0, join)
    own = tl.sum(tl.where(lane == BLOCK - 1, total, 0), 0)
    closed = (tl.max(flag, 0) != 0) | (block == 0)
    own_bits = own.to(tl.int64) & 0xFFFFFFFF
    tl.atomic_xchg(state + block, own_bits + (tl.where(closed, 2, 1).to(tl.int64) << 32))
    before = tl.zeros((), tl.int32)
    back = block - 1
    while back >= 0:
        seen = tl.atomic_add(state + back, 0)
        while seen == 0:
            seen = tl.atomic_add(state + back, 0)
        before += seen.to(tl.int32)
        back = tl.where((seen >> 32) == 2, -1, back - 1)
    if closed == 0:
        tl.atomic_xchg(state + block, ((before + own).to(tl.int64) & 0xFFFFFFFF) + (2 << 32))
    tl.store(y + at, tl.where(flag != 0, total, before + total), mask=at < n)
