# task: softmax_rows expect: runtime_fault|wrong_result
# The mask lets one column too many through: of the last row it is outside.
import triton
import triton.language as tl


# @launch softmax[(rows,)](x, y, cols, BLOCK=next_pow2(cols + 1))
@triton.jit
def softmax(x, y, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * cols + i, i <= cols, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + row * cols + i, e / tl.sum(e, 0), i < cols)
