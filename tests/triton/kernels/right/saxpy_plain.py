# task: saxpy expect: ok
# One block of elements a program.
import triton
import triton.language as tl


# @launch saxpy[(ceil_div(n, BLOCK),)](x, b, out, alpha, n, BLOCK=512)
@triton.jit
def saxpy(x, b, out, alpha, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, alpha * tl.load(x + at, mask=inside) + tl.load(b + at, mask=inside), mask=inside)
