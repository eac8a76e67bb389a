# task: top_k_rows expect: ok
# One row a program, which takes the greatest element eight times in an unrolled loop.
import triton
import triton.language as tl


# @launch select[(rows,)](x, y, cols, BLOCK=next_pow2(cols))
@triton.jit
def select(x, y, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    col = tl.arange(0, BLOCK)
    value = tl.load(x + row * cols + col, mask=col < cols, other=float("-inf"))
    for place in tl.static_range(8):
        top, at = tl.max(value, 0, return_indices=True)
        tl.store(y + row * 8 + place, top)
        value = tl.where(col == at, float("-inf"), value)
