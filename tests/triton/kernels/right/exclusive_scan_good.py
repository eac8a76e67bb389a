# task: exclusive_scan expect: ok
# One pass: a block takes its number by a ticket, publishes its sum, and looks back for what precedes it.
import triton
import triton.language as tl


# @scratch ticket int32[1]
# @scratch state int64[ceil_div(n, 2048)]
# @launch clear[(ceil_div(state.size, BLOCK),)](ticket, state, state.size, BLOCK=256)
@triton.jit
def clear(ticket, state, blocks, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(state + at, tl.zeros((BLOCK,), tl.int64), mask=at < blocks)
    if tl.program_id(0) == 0:
        tl.store(ticket, 0)


# @launch scan[(ceil_div(n, BLOCK),)](counts, offsets, ticket, state, n, BLOCK=2048, num_warps=8)
@triton.jit
def scan(counts, offsets, ticket, state, n, BLOCK: tl.constexpr):
    # A state holds a sum in its low 32 bits; above it 1 if that is of the block, 2 if of all up to it.
    block = tl.atomic_add(ticket, 1, sem="relaxed")
    at = block * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    count = tl.load(counts + at, mask=inside, other=0)
    own = tl.sum(count, 0).to(tl.int64)
    scanned = tl.cumsum(count, 0)
    tl.atomic_xchg(state + block, own + (1 << 32))
    before = tl.zeros((), tl.int64)
    back = block - 1
    while back >= 0:
        seen = tl.atomic_add(state + back, 0)
        while seen == 0:
            seen = tl.atomic_add(state + back, 0)
        before += seen & 0xFFFFFFFF
        back = tl.where((seen >> 32) == 2, -1, back - 1)
    tl.atomic_xchg(state + block, before + own + (2 << 32))
    tl.store(offsets + at, before.to(tl.int32) + scanned - count, mask=inside)
