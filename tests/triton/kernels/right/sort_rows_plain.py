# task: sort_rows expect: ok
# One row a program; each element counts those before it in the order, and is stored there.
import triton
import triton.language as tl


# @launch sort[(rows,)](x, y, cols, BLOCK=next_pow2(cols))
@triton.jit
def sort(x, y, cols, BLOCK: tl.constexpr):
    first = tl.program_id(0) * cols
    col = tl.arange(0, BLOCK)
    value = tl.load(x + first + col, mask=col < cols)
    rank = tl.zeros((BLOCK,), tl.int32)
    for other in range(cols):
        rival = tl.load(x + first + other)
        rank += ((rival < value) | ((rival == value) & (other < col))).to(tl.int32)
    tl.store(y + first + rank, value, mask=col < cols)
