# task: total_sum expect: ok
# One sum a block in scratch memory, then one program adds these up.
import triton
import triton.language as tl


# @scratch part float32[ceil_div(n, 1024)]
# @launch block_sums[(ceil_div(n, BLOCK),)](x, part, n, BLOCK=1024)
# @launch add_up[(1,)](part, y, part.size, BLOCK=1024)
@triton.jit
def block_sums(x, part, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(part + tl.program_id(0), tl.sum(tl.load(x + at, mask=at < n, other=0.0), 0))


@triton.jit
def add_up(part, y, n, BLOCK: tl.constexpr):
    total = 0.0
    for first in range(0, n, BLOCK):
        at = first + tl.arange(0, BLOCK)
        total += tl.sum(tl.load(part + at, mask=at < n, other=0.0), 0)
    tl.store(y, total)
