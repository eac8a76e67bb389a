# task: layernorm_rows expect: ok
# One row a program; the variance is of differences from the mean.
import triton
import triton.language as tl


# @launch normalise[(rows,)](x, gamma, beta, y, cols, BLOCK=next_pow2(cols))
@triton.jit
def normalise(x, gamma, beta, y, cols, BLOCK: tl.constexpr):
    col = tl.arange(0, BLOCK)
    at = tl.program_id(0) * cols + col
    value = tl.load(x + at, mask=col < cols, other=0.0)
    mean = tl.sum(value, 0) / cols
    difference = tl.where(col < cols, value - mean, 0.0)
    variance = tl.sum(difference * difference, 0) / cols
    factor = tl.load(gamma + col, mask=col < cols)
    shift = tl.load(beta + col, mask=col < cols)
    tl.store(y + at, difference / tl.sqrt(variance + 1e-5) * factor + shift, mask=col < cols)
