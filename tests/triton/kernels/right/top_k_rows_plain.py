# task: top_k_rows expect: ok
# One row a program, which takes the greatest element k times, and the first of equal ones.
import triton
import triton.language as tl


# @launch select[(rows,)](x, y, cols, k, BLOCK=next_pow2(cols), num_warps=8)
@triton.jit
def select(x, y, cols, k, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    col = tl.arange(0, BLOCK)
    value = tl.load(x + row * cols + col, mask=col < cols, other=float("-inf"))
    for place in range(k):
        top = tl.max(value, 0)
        tl.store(y + row * k + place, top)
        at = tl.min(tl.where(value == top, col, BLOCK), 0)
        value = tl.where(col == at, float("-inf"), value)
