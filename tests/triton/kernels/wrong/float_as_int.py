# task: gather_rows expect: wrong_result
# Values pass through int32, which cuts their fractions off.
import triton
import triton.language as tl


# @launch gather[(rows,)](x, order, y, cols, BLOCK=next_pow2(cols))
@triton.jit
def gather(x, order, y, cols, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + tl.load(order + tl.program_id(0)) * cols + i, i < cols, other=0.0).to(tl.int32)
    tl.store(y + tl.program_id(0) * cols + i, v.to(tl.float32), i < cols)
