# task: softmax_rows expect: wrong_result
# Exponentials overflow without the maximum.
import triton
import triton.language as tl


# @launch softmax[(rows,)](x, y, cols, BLOCK=next_pow2(cols))
@triton.jit
def softmax(x, y, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    e = tl.exp(tl.load(x + row * cols + i, i < cols, other=-float("inf")))
    tl.store(y + row * cols + i, e / tl.sum(e, 0), i < cols)
