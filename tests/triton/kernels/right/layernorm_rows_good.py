# task: layernorm_rows expect: ok
# Two rows a program share gamma and beta, which are read before the sums are known.
import triton
import triton.language as tl


# @launch normalise[(ceil_div(rows, 2),)](x, gamma, beta, y, rows, cols, BLOCK=next_pow2(cols), num_warps=8)
@triton.jit
def normalise_row(x, y, at, inside, cols, factor, shift):
    value = tl.load(x + at, mask=inside, other=0.0)
    mean = tl.sum(value, 0) / cols
    difference = tl.where(inside, value - mean, 0.0)
    scale = tl.rsqrt(tl.sum(difference * difference, 0) / cols + 1e-5)
    tl.store(y + at, difference * scale * factor + shift, mask=inside)


@triton.jit
def normalise(x, gamma, beta, y, rows, cols, BLOCK: tl.constexpr):
    col = tl.arange(0, BLOCK)
    inside = col < cols
    factor = tl.load(gamma + col, mask=inside, other=0.0)
    shift = tl.load(beta + col, mask=inside, other=0.0)
    for row in range(2 * tl.program_id(0), min(rows, 2 * tl.program_id(0) + 2)):
        normalise_row(x, y, row * cols + col, inside, cols, factor, shift)
