# task: layernorm_gelu expect: ok
# One row a program, with the error function that Triton has.
import triton
import triton.language as tl


# @launch normalise[(rows,)](x, gamma, beta, y, cols, BLOCK=next_pow2(cols), num_warps=8)
@triton.jit
def normalise(x, gamma, beta, y, cols, BLOCK: tl.constexpr):
    col = tl.arange(0, BLOCK)
    inside = col < cols
    at = tl.program_id(0) * cols + col
    value = tl.load(x + at, mask=inside, other=0.0)
    difference = tl.where(inside, value - tl.sum(value, 0) / cols, 0.0)
    scale = tl.rsqrt(tl.sum(difference * difference, 0) / cols + 1e-5)
    v = difference * scale * tl.load(gamma + col, mask=inside) + tl.load(beta + col, mask=inside)
    tl.store(y + at, 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476)), mask=inside)
