# task: sort_rows expect: ok
# Triton's own sort of whole rows; short ones are sorted several at a time, one warp for up to 256 elements.
import triton
import triton.language as tl


# @launch sort[(ceil_div(rows, ROWS),)](x, y, rows, cols, ROWS=max(1, 256 / next_pow2(cols)), BLOCK=next_pow2(cols), num_warps=max(1, next_pow2(cols) / 256))
@triton.jit
def sort(x, y, rows, cols, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    col = tl.arange(0, BLOCK)
    inside = (row < rows)[:, None] & (col < cols)[None, :]
    at = row[:, None] * cols + col[None, :]
    value = tl.load(x + at, mask=inside, other=float("inf"))
    tl.store(y + at, tl.sort(value, dim=1), mask=inside)
