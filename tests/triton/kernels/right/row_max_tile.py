# task: row_max expect: ok
# Four rows a program over all of its warps, whose maxima meet in shared memory.
import triton
import triton.language as tl


# @launch greatest[(ceil_div(m, ROWS),)](src, dst, m, n, ROWS=4, CHUNK=256)
@triton.jit
def greatest(src, dst, m, n, ROWS: tl.constexpr, CHUNK: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    top = tl.full((ROWS, CHUNK), float("-inf"), tl.float32)
    for first in range(0, n, CHUNK):
        col = first + tl.arange(0, CHUNK)
        inside = (row < m)[:, None] & (col < n)[None, :]
        top = tl.maximum(top, tl.load(src + row[:, None] * n + col[None, :], mask=inside, other=float("-inf")))
    tl.store(dst + row, tl.max(top, 1), mask=row < m)
