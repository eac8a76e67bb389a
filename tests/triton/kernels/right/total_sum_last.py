# task: total_sum expect: ok
# The program that is done last, by a counter, adds up the sums of all.
import triton
import triton.language as tl


# @scratch part float32[ceil_div(n, 1024)]
# @scratch done int32[1]
# @launch clear[(1,)](done)
@triton.jit
def clear(done):
    tl.store(done, 0)


# @launch add_up[(part.size,)](x, y, part, done, n, part.size, BLOCK=1024)
@triton.jit
def add_up(x, y, part, done, n, parts, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    at = tl.program_id(0) * BLOCK + lane
    tl.store(part + tl.program_id(0), tl.sum(tl.load(x + at, mask=at < n, other=0.0), 0))
    tl.debug_barrier()
    if tl.atomic_add(done, 1, sem="acq_rel") == parts - 1:
        total = tl.zeros((BLOCK,), tl.float32)
        for first in range(0, parts, BLOCK):
            total += tl.load(part + first + lane, mask=first + lane < parts, other=0.0, cache_modifier=".cg")
        tl.store(y, tl.sum(total, 0))
