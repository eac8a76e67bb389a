# task: kl_divergence expect: ok
# One row of both a program, by logarithms of the sums of exponentials.
import triton
import triton.language as tl


@triton.jit
def log_softmax(value, inside):
    value -= tl.max(value, 0)
    return value - tl.log(tl.sum(tl.where(inside, tl.exp(value), 0.0), 0))


# @launch divergence[(rows,)](a, b, kl, cols, BLOCK=next_pow2(cols), num_warps=8)
@triton.jit
def divergence(a, b, kl, cols, BLOCK: tl.constexpr):
    col = tl.arange(0, BLOCK)
    inside = col < cols
    at = tl.program_id(0).to(tl.int64) * cols + col
    p = log_softmax(tl.load(a + at, mask=inside, other=float("-inf")), inside)
    q = log_softmax(tl.load(b + at, mask=inside, other=float("-inf")), inside)
    tl.store(kl + tl.program_id(0), tl.sum(tl.where(inside, tl.exp(p) * (p - q), 0.0), 0))
