# task: vector_mul expect: ok
# A fixed number of programs, each of which strides over the blocks.
import triton
import triton.language as tl


# @launch multiply[(min(ceil_div(len, BLOCK), 512),)](u, v, res, len, BLOCK=1024)
@triton.jit
def multiply(u, v, res, n, BLOCK: tl.constexpr):
    for first in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        at = first + tl.arange(0, BLOCK)
        inside = at < n
        product = tl.load(u + at, mask=inside, other=0.0) * tl.load(v + at, mask=inside, other=0.0)
        tl.store(res + at, product, mask=inside)
