# task: huber_loss expect: wrong_result
# The linear branch lacks half of delta.
import triton
import triton.language as tl


# @launch huber[(rows,)](x, target, loss, delta, cols, BLOCK=next_pow2(cols))
@triton.jit
def huber(x, target, loss, delta, cols, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = tl.program_id(0) * cols + i
    v = tl.abs(tl.load(x + at, i < cols, other=0.0) - tl.load(target + at, i < cols, other=0.0))
    h = tl.where(v <= delta, 0.5 * v * v, delta * (v - delta))
    tl.store(loss + tl.program_id(0), tl.sum(h, 0) / cols)
