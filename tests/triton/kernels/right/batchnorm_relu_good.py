# task: batchnorm_relu expect: ok
# Tiles of rows and elements, with the parameters of the rows in vectors.
import triton
import triton.language as tl


# @launch normalise[(ceil_div(batch * channels, ROWS), ceil_div(len, COLS))](x, mean, var, gamma, beta, y, batch * channels, channels, len, ROWS=4, COLS=256)
@triton.jit
def normalise(x, mean, var, gamma, beta, y, rows, channels, length, ROWS: tl.constexpr, COLS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    i = tl.program_id(1) * COLS + tl.arange(0, COLS)
    channel = row % channels
    factor = tl.load(gamma + channel) * tl.rsqrt(tl.load(var + channel) + 1e-5)
    centre = tl.load(mean + channel)
    shift = tl.load(beta + channel)
    inside = (row < rows)[:, None] & (i < length)[None, :]
    at = row[:, None] * length + i[None, :]
    value = (tl.load(x + at, mask=inside, other=0.0) - centre[:, None]) * factor[:, None] + shift[:, None]
    tl.store(y + at, tl.maximum(value, 0.0), mask=inside)
