# task: stencil_2d expect: ok
# One output a lane, which finds its row and column by division.
import triton
import triton.language as tl


# @launch laplacian[(ceil_div(rows * cols, BLOCK),)](x, y, rows, cols, BLOCK=256)
@triton.jit
def laplacian(x, y, rows, cols, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    r = at // cols
    c = at % cols
    inside = r < rows
    value = -4.0 * tl.load(x + at, mask=inside, other=0.0)
    value += tl.load(x + at - cols, mask=inside & (r > 0), other=0.0)
    value += tl.load(x + at + cols, mask=r + 1 < rows, other=0.0)
    value += tl.load(x + at - 1, mask=inside & (c > 0), other=0.0)
    value += tl.load(x + at + 1, mask=inside & (c + 1 < cols), other=0.0)
    tl.store(y + at, value, mask=inside)
