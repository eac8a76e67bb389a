# task: prefix_sum expect: runtime_fault|wrong_result|nondeterministic on-gpu: ok|runtime_fault|wrong_result|nondeterministic
# The carry is stored and loaded again without a barrier: wrong only where more than one block of 8192 is needed.
import triton
import triton.language as tl


# @scratch carry float32[1]
# @launch scan[(1,)](x, y, carry, n)
@triton.jit
def scan(x, y, carry, n):
    tl.store(carry, 0.0)
    tl.debug_barrier()
    for first in range(0, n, 8192):
        i = first + tl.arange(0, 8192)
        v = tl.load(x + i, i < n, other=0.0)
        c = tl.load(carry)
        s = tl.cumsum(v, 0)
        tl.store(y + i, s + c, i < n)
        tl.store(carry, c + tl.sum(v, 0))
