# task: scale expect: ok
# Four blocks a program in an unrolled loop.
import triton
import triton.language as tl


# @launch scale[(ceil_div(n, BLOCKS * BLOCK),)](x, y, alpha, n, BLOCK=512, BLOCKS=4)
@triton.jit
def scale(x, y, alpha, n, BLOCK: tl.constexpr, BLOCKS: tl.constexpr):
    first = tl.program_id(0) * (BLOCKS * BLOCK)
    for block in tl.static_range(BLOCKS):
        at = first + block * BLOCK + tl.arange(0, BLOCK)
        inside = at < n
        tl.store(y + at, alpha * tl.load(x + at, mask=inside, other=0.0), mask=inside)
