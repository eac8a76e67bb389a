# task: dot expect: ok
# A fixed number of programs sum up strided blocks, and each adds its sum atomically.
import triton
import triton.language as tl


# @launch clear[(1,)](out)
@triton.jit
def clear(out):
    tl.store(out, 0.0)


# @launch dot[(min(ceil_div(len, BLOCK), 256),)](p, q, out, len, BLOCK=1024)
@triton.jit
def dot(p, q, out, n, BLOCK: tl.constexpr):
    sums = tl.zeros((BLOCK,), tl.float32)
    for first in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        at = first + tl.arange(0, BLOCK)
        inside = at < n
        sums += tl.load(p + at, mask=inside, other=0.0) * tl.load(q + at, mask=inside, other=0.0)
    tl.atomic_add(out, tl.sum(sums, 0), sem="relaxed")
