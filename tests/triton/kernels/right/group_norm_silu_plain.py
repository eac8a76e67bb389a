# task: group_norm_silu expect: ok
# A group of one sample a program, as tiles of positions and the channels of the group.
import triton
import triton.language as tl


# @launch normalise[(batch * groups,)](x, gamma, beta, y, len, width, groups, ROWS=8, WIDTH=next_pow2(width), num_warps=1)
@triton.jit
def normalise(x, gamma, beta, y, length, width, groups, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    group = tl.program_id(0) % groups
    channels = groups * width
    base = (tl.program_id(0) // groups).to(tl.int64) * length * channels + group * width
    c = tl.arange(0, WIDTH)
    sums = tl.zeros((ROWS, WIDTH), tl.float32)
    for first in range(0, length, ROWS):
        i = first + tl.arange(0, ROWS)
        inside = (i < length)[:, None] & (c < width)[None, :]
        sums += tl.load(x + base + i[:, None] * channels + c[None, :], mask=inside, other=0.0)
    mean = tl.sum(sums) / (length * width)
    squares = tl.zeros((ROWS, WIDTH), tl.float32)
    for first in range(0, length, ROWS):
        i = first + tl.arange(0, ROWS)
        inside = (i < length)[:, None] & (c < width)[None, :]
        value = tl.load(x + base + i[:, None] * channels + c[None, :], mask=inside, other=0.0)
        squares += tl.where(inside, (value - mean) * (value - mean), 0.0)
    scale = tl.rsqrt(tl.sum(squares) / (length * width) + 1e-5)
    factor = tl.load(gamma + group * width + c, mask=c < width, other=0.0) * scale
    shift = tl.load(beta + group * width + c, mask=c < width, other=0.0)
    for first in range(0, length, ROWS):
        i = first + tl.arange(0, ROWS)
        inside = (i < length)[:, None] & (c < width)[None, :]
        at = base + i[:, None] * channels + c[None, :]
        v = (tl.load(x + at, mask=inside, other=0.0) - mean) * factor[None, :] + shift[None, :]
        tl.store(y + at, v * tl.sigmoid(v), mask=inside)
