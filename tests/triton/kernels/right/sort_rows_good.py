# task: sort_rows expect: ok
# Triton's own sort of a row that is padded with infinity, with two elements a thread.
import triton
import triton.language as tl


# @launch sort[(rows,)](x, y, cols, BLOCK=next_pow2(cols), num_warps=min(16, max(1, next_pow2(cols) / 64)))
@triton.jit
def sort(x, y, cols, BLOCK: tl.constexpr):
    col = tl.arange(0, BLOCK)
    at = tl.program_id(0) * cols + col
    value = tl.load(x + at, mask=col < cols, other=float("inf"))
    tl.store(y + at, tl.sort(value), mask=col < cols)
