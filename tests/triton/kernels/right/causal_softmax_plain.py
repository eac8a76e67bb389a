# task: causal_softmax expect: ok
# One row a program, in which what lies after the diagonal is minus infinity.
import triton
import triton.language as tl


# @launch softmax[(n,)](x, y, n, BLOCK=next_pow2(n))
@triton.jit
def softmax(x, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    col = tl.arange(0, BLOCK)
    value = tl.load(x + row * n + col, mask=col <= row, other=float("-inf"))
    power = tl.exp(value - tl.max(value, 0))
    tl.store(y + row * n + col, power / tl.sum(power, 0), mask=col < n)
