# task: masked_argmax expect: ok
# Lanes go through the row in chunks, reading only allowed logits; then the first of the greatest is found.
import triton
import triton.language as tl


# @launch greatest[(rows,)](logits, mask, token, cols, CHUNK=min(next_pow2(cols), 1024))
@triton.jit
def greatest(logits, mask, token, cols, CHUNK: tl.constexpr):
    row = tl.program_id(0)
    best = tl.full((CHUNK,), float("-inf"), tl.float32)
    best_at = tl.full((CHUNK,), 2147483647, tl.int32)
    for first in range(0, cols, CHUNK):
        col = first + tl.arange(0, CHUNK)
        allowed = tl.load(mask + row * cols + col, mask=col < cols, other=0) != 0
        value = tl.load(logits + row * cols + col, mask=allowed, other=float("-inf"))
        best_at = tl.where(value > best, col, best_at)
        best = tl.maximum(value, best)
    top = tl.max(best, 0)
    found = tl.min(tl.where(best == top, best_at, 2147483647), 0)
    tl.store(token + row, tl.where(found == 2147483647, -1, found))
