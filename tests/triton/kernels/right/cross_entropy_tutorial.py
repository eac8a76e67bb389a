# task: cross_entropy expect: ok
# Maximum and sum of exponentials in one pass, rescaled whenever the maximum rises.
import triton
import triton.language as tl


# @launch cross_entropy[(rows,)](logits, labels, loss, cols, BLOCK=1024, num_warps=4)
@triton.jit
def cross_entropy(logits, labels, loss, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    logits += row.to(tl.int64) * cols
    top = float("-inf")
    total = 0.0
    for first in range(0, cols, BLOCK):
        col = first + tl.arange(0, BLOCK)
        value = tl.load(logits + col, mask=col < cols, other=float("-inf"))
        higher = tl.maximum(top, tl.max(value, 0))
        total = total * tl.exp(top - higher) + tl.sum(tl.exp(value - higher), 0)
        top = higher
    label = tl.load(labels + row)
    tl.store(loss + row, tl.log(total) + top - tl.load(logits + label))
