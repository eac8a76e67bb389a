# task: softmax_rows expect: wrong_result
# An online softmax that forgets to rescale the sum when the maximum grows.
import triton
import triton.language as tl


# @launch softmax[(rows,)](x, y, cols)
@triton.jit
def softmax(x, y, cols):
    row = tl.program_id(0)
    best = -float("inf")
    total = 0.0
    for start in range(0, cols, 64):
        i = start + tl.arange(0, 64)
        v = tl.load(x + row * cols + i, i < cols, other=-float("inf"))
        best = tl.maximum(best, tl.max(v, 0))
        total += tl.sum(tl.exp(v - best), 0)
    for start in range(0, cols, 64):
        i = start + tl.arange(0, 64)
        v = tl.load(x + row * cols + i, i < cols, other=-float("inf"))
        tl.store(y + row * cols + i, tl.exp(v - best) / total, i < cols)
