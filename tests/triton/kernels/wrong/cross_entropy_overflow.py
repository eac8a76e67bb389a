# task: cross_entropy expect: wrong_result
# log(sum(exp)) without the maximum.
import triton
import triton.language as tl


# @launch loss[(rows,)](logits, labels, loss, cols, BLOCK=next_pow2(cols))
@triton.jit
def loss(logits, labels, loss, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(logits + row * cols + i, i < cols, other=-float("inf"))
    at = tl.load(logits + row * cols + tl.load(labels + row))
    tl.store(loss + row, tl.log(tl.sum(tl.exp(v), 0)) - at)
