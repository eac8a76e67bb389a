# task: huber_loss expect: ok
# One row a program.
import triton
import triton.language as tl


# @launch huber[(rows,)](x, target, loss, delta, cols, BLOCK=next_pow2(cols))
@triton.jit
def huber(x, target, loss, delta, cols, BLOCK: tl.constexpr):
    col = tl.arange(0, BLOCK)
    at = tl.program_id(0) * cols + col
    inside = col < cols
    v = tl.abs(tl.load(x + at, mask=inside, other=0.0) - tl.load(target + at, mask=inside, other=0.0))
    cost = tl.where(v <= delta, 0.5 * v * v, delta * (v - 0.5 * delta))
    tl.store(loss + tl.program_id(0), tl.sum(cost, 0) / cols)
