# task: ell_spmv expect: ok
# A tile of whole rows a program; a multiplication is fused with the first addition of the sum.
import triton
import triton.language as tl


# @launch multiply[(ceil_div(rows, ROWS),)](vals, at, x, y, rows, width, ROWS=16, WIDTH=next_pow2(width))
@triton.jit
def multiply(vals, at, x, y, rows, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    place = tl.arange(0, WIDTH)
    real = row < rows
    inside = real[:, None] & (place < width)[None, :]
    k = row[:, None] * width + place[None, :]
    column = tl.load(at + k, mask=inside, other=0)
    product = tl.load(vals + k, mask=inside, other=0.0) * tl.load(x + column, mask=inside, other=0.0)
    tl.store(y + row, tl.sum(product, 1), mask=real)
