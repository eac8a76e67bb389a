# task: top_k_softmax expect: ok
# One row a program; the eighth greatest is found by taking the greatest seven times.
import triton
import triton.language as tl


# @launch softmax[(rows,)](x, y, cols, k, BLOCK=next_pow2(cols), num_warps=8)
@triton.jit
def softmax(x, y, cols, k, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    col = tl.arange(0, BLOCK)
    value = tl.load(x + row * cols + col, mask=col < cols, other=float("-inf"))
    top = tl.max(value, 0)
    rest = value
    for _ in range(k - 1):
        at = tl.min(tl.where(rest == tl.max(rest, 0), col, BLOCK), 0)
        rest = tl.where(col == at, float("-inf"), rest)
    power = tl.where(value >= tl.max(rest, 0), tl.exp(value - top), 0.0)
    tl.store(y + row * cols + col, power / tl.sum(power, 0), mask=col < cols)
