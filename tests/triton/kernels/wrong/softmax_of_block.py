# task: softmax_rows expect: wrong_result
# Normalises tiles of 128 columns instead of rows.
import triton
import triton.language as tl


# @launch softmax[(rows, ceil_div(cols, 128))](x, y, cols)
@triton.jit
def softmax(x, y, cols):
    row = tl.program_id(0)
    i = tl.program_id(1) * 128 + tl.arange(0, 128)
    v = tl.load(x + row * cols + i, i < cols, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + row * cols + i, e / tl.sum(e, 0), i < cols)
