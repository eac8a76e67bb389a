# task: vector_add expect: ok
# One block of elements a program.
import triton
import triton.language as tl


# @launch add[(ceil_div(n, BLOCK),)](a, b, out, n, BLOCK=1024)
@triton.jit
def add(a, b, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(a + at, mask=inside) + tl.load(b + at, mask=inside), mask=inside)
