# task: abs_diff expect: ok
# One block of elements a program.
import triton
import triton.language as tl


# @launch difference[(ceil_div(len, BLOCK),)](lhs, rhs, z, len, BLOCK=512)
@triton.jit
def difference(lhs, rhs, z, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(z + at, tl.abs(tl.load(lhs + at, mask=inside) - tl.load(rhs + at, mask=inside)), mask=inside)
