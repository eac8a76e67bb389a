# task: row_argmax expect: ok
# Lanes keep the first of their greatest elements, and are reduced once, by a function of value and index.
import triton
import triton.language as tl


@triton.jit
def first_greatest(left, left_at, right, right_at):
    keep = (left > right) | ((left == right) & (left_at < right_at))
    return tl.where(keep, left, right), tl.where(keep, left_at, right_at)


# @launch greatest[(rows,)](x, y, cols, CHUNK=512)
@triton.jit
def greatest(x, y, cols, CHUNK: tl.constexpr):
    best = tl.full((CHUNK,), float("-inf"), tl.float32)
    best_at = tl.full((CHUNK,), 2147483647, tl.int32)
    for first in range(0, cols, CHUNK):
        col = first + tl.arange(0, CHUNK)
        value = tl.load(x + tl.program_id(0) * cols + col, mask=col < cols, other=float("-inf"))
        best_at = tl.where(value > best, col, best_at)
        best = tl.maximum(value, best)
    _, found = tl.reduce((best, best_at), 0, first_greatest)
    tl.store(y + tl.program_id(0), found)
