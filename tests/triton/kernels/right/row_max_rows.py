# task: row_max expect: ok
# Four rows a program, held in registers whole.
import triton
import triton.language as tl


# @launch greatest[(ceil_div(m, 4),)](src, dst, m, n, CHUNK=next_pow2(n))
@triton.jit
def greatest(src, dst, m, n, CHUNK: tl.constexpr):
    row = tl.program_id(0) * 4 + tl.arange(0, 4)
    col = tl.arange(0, CHUNK)
    inside = (row < m)[:, None] & (col < n)[None, :]
    value = tl.load(src + row[:, None] * n + col[None, :], mask=inside, other=float("-inf"))
    tl.store(dst + row, tl.max(value, 1), mask=row < m)
