# task: row_sum expect: wrong_result
# The sum is taken in float16.
import triton
import triton.language as tl


# @launch row_sum[(rows,)](x, y, cols, BLOCK=next_pow2(cols))
@triton.jit
def row_sum(x, y, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * cols + i, i < cols, other=0.0).to(tl.float16)
    tl.store(y + row, tl.sum(v, 0).to(tl.float32))
