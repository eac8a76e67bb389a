# task: layernorm_rows expect: wrong_result
# Masked lanes are 0, but 0 minus the mean counts in the variance.
import triton
import triton.language as tl


# @launch norm[(rows,)](x, gamma, beta, y, cols, BLOCK=next_pow2(cols))
@triton.jit
def norm(x, gamma, beta, y, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    inside = i < cols
    v = tl.load(x + row * cols + i, inside, other=0.0)
    d = v - tl.sum(v, 0) / cols
    r = 1.0 / tl.sqrt(tl.sum(d * d, 0) / cols + 1e-5)
    g = tl.load(gamma + i, inside, other=0.0)
    tl.store(y + row * cols + i, d * r * g + tl.load(beta + i, inside, other=0.0), inside)
