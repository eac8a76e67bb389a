# task: gather_rows expect: wrong_result
# Scatters where it should gather.
import triton
import triton.language as tl


# @launch gather[(rows,)](x, order, y, cols, BLOCK=next_pow2(cols))
@triton.jit
def gather(x, order, y, cols, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + tl.program_id(0) * cols + i, i < cols)
    tl.store(y + tl.load(order + tl.program_id(0)) * cols + i, v, i < cols)
