# task: total_sum expect: ok
# A lock by atomic_cas and atomic_xchg around a sum in memory.
import triton
import triton.language as tl
from triton.language.extra import libdevice


# @launch clear[(1,)](y)
@triton.jit
def clear(y):
    tl.store(y, 0.0)


# @scratch lock int32[1]
# @launch zero[(1,)](lock)
@triton.jit
def zero(lock):
    tl.store(lock, 0)


# @launch k[(ceil_div(n, 1024),)](x, y, lock, n)
@triton.jit
def k(x, y, lock, n):
    at = tl.program_id(0) * 1024 + tl.arange(0, 1024)
    s = tl.sum(tl.load(x + at, mask=at < n, other=0.0), 0)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(y, tl.load(y) + s)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)
