# task: dot expect: ok
# One sum a block in scratch memory, then one program adds these up.
import triton
import triton.language as tl


# @scratch part float32[ceil_div(len, 1024)]
# @launch partial_sums[(ceil_div(len, BLOCK),)](p, q, part, len, BLOCK=1024)
@triton.jit
def partial_sums(p, q, part, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    product = tl.load(p + at, mask=inside, other=0.0) * tl.load(q + at, mask=inside, other=0.0)
    tl.store(part + tl.program_id(0), tl.sum(product, 0))


# @launch add_up[(1,)](part, out, part.size, BLOCK=1024)
@triton.jit
def add_up(part, out, n, BLOCK: tl.constexpr):
    sums = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, n, BLOCK):
        at = first + tl.arange(0, BLOCK)
        sums += tl.load(part + at, mask=at < n, other=0.0)
    tl.store(out, tl.sum(sums, 0))
