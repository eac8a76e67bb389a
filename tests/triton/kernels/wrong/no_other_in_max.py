# task: row_max expect: wrong_result
# Masked lanes have no value (Triton makes them 0): wrong for rows of negative numbers.
import triton
import triton.language as tl


# @launch row_max[(m,)](src, dst, n, BLOCK=next_pow2(n))
@triton.jit
def row_max(src, dst, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    tl.store(dst + row, tl.max(tl.load(src + row * n + i, i < n), 0))
