# task: residual_rmsnorm expect: ok
# The residual stream is updated in place, and the sum is kept in registers for the norm.
import triton
import triton.language as tl


# @launch add_and_normalise[(rows,)](x, res, gamma, y, cols, eps=1e-5, BLOCK=next_pow2(cols), num_warps=min(8, max(1, next_pow2(cols) / 128)))
@triton.jit
def add_and_normalise(x, res, gamma, y, cols, eps: tl.constexpr, BLOCK: tl.constexpr):
    col = tl.arange(0, BLOCK)
    inside = col < cols
    at = tl.program_id(0) * cols + col
    total = tl.load(x + at, mask=inside, other=0.0) + tl.load(res + at, mask=inside, other=0.0)
    tl.store(res + at, total, mask=inside)
    factor = tl.rsqrt(tl.sum(total * total, 0) / cols + eps)
    tl.store(y + at, total * factor * tl.load(gamma + col, mask=inside, other=0.0), mask=inside)
