# task: vector_mul expect: ok
# One block of elements a program.
import triton
import triton.language as tl


# @launch multiply[(ceil_div(len, BLOCK),)](u, v, res, len, BLOCK=256)
@triton.jit
def multiply(u, v, res, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(res + at, tl.load(u + at, mask=inside) * tl.load(v + at, mask=inside), mask=inside)
