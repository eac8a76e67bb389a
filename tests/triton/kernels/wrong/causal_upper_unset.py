# task: causal_softmax expect: wrong_result|runtime_fault
# Elements above the diagonal are not written.
import triton
import triton.language as tl


# @launch softmax[(n,)](x, y, n, BLOCK=next_pow2(n))
@triton.jit
def softmax(x, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + i, i <= row, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + row * n + i, e / tl.sum(e, 0), i <= row)
