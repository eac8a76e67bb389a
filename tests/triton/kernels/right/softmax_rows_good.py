# task: softmax_rows expect: ok
# Four rows a program, each of them in one warp if it is short, with one division a row.
import triton
import triton.language as tl


# @launch softmax[(ceil_div(rows, ROWS),)](x, y, rows, cols, ROWS=max(1, min(4, 1024 / next_pow2(cols))), BLOCK=next_pow2(cols), num_warps=4)
@triton.jit
def softmax(x, y, rows, cols, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    col = tl.arange(0, BLOCK)
    inside = (row < rows)[:, None] & (col < cols)[None, :]
    at = row[:, None] * cols + col[None, :]
    value = tl.load(x + at, mask=inside, other=float("-inf"))
    top = tl.where(row < rows, tl.max(value, 1), 0.0)
    power = tl.exp2((value - top[:, None]) * 1.4426950408889634)
    factor = 1.0 / tl.sum(power, 1)
    tl.store(y + at, power * factor[:, None], mask=inside)
