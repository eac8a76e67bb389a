# task: scale expect: ok
# One block of elements a program.
import triton
import triton.language as tl


# @launch scale[(ceil_div(n, BLOCK),)](x, y, alpha, n, BLOCK=512)
@triton.jit
def scale(x, y, alpha, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(y + at, alpha * tl.load(x + at, mask=inside), mask=inside)
