# task: huber_loss expect: ok
# Chunks of 1024 whose costs are added in lanes; the smaller of |v| and delta makes both cases one.
import triton
import triton.language as tl


# @launch huber[(rows,)](x, target, loss, delta, cols, CHUNK=min(next_pow2(cols), 1024))
@triton.jit
def huber(x, target, loss, delta, cols, CHUNK: tl.constexpr):
    first_of_row = tl.program_id(0) * cols
    costs = tl.zeros((CHUNK,), tl.float32)
    for first in range(0, cols, CHUNK):
        col = first + tl.arange(0, CHUNK)
        value = tl.load(x + first_of_row + col, mask=col < cols, other=0.0)
        v = tl.abs(value - tl.load(target + first_of_row + col, mask=col < cols, other=0.0))
        inner = tl.minimum(v, delta)
        costs += inner * (v - 0.5 * inner)
    tl.store(loss + tl.program_id(0), tl.sum(costs, 0) / cols)
