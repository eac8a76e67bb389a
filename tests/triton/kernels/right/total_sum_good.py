# task: total_sum expect: ok
# The same kernel twice: strided blocks to at most 512 sums, and these to one.
import triton
import triton.language as tl


# @scratch part float32[min(ceil_div(n, 2048), 512)]
# @launch add_up[(part.size,)](x, part, n, BLOCK=2048, num_warps=8)
# @launch add_up[(1,)](part, y, part.size, BLOCK=512)
@triton.jit
def add_up(x, sums, n, BLOCK: tl.constexpr):
    lanes = tl.zeros((BLOCK,), tl.float32)
    for first in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        at = first + tl.arange(0, BLOCK)
        lanes += tl.load(x + at, mask=at < n, other=0.0)
    tl.store(sums + tl.program_id(0), tl.sum(lanes, 0))
