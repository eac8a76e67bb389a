# task: alibi_softmax expect: ok
# One row of one head a program, with the bias computed from the distance.
import triton
import triton.language as tl


# @launch softmax[(heads * n,)](s, slope, y, n, BLOCK=next_pow2(n))
@triton.jit
def softmax(s, slope, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = row % n
    j = tl.arange(0, BLOCK)
    value = tl.load(s + row.to(tl.int64) * n + j, mask=j <= i, other=0.0)
    value -= tl.load(slope + row // n) * (i - j).to(tl.float32)
    value = tl.where(j <= i, value, float("-inf"))
    power = tl.exp(value - tl.max(value, 0))
    tl.store(y + row.to(tl.int64) * n + j, power / tl.sum(power, 0), mask=j < n)
