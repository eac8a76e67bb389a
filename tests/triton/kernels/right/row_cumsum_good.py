# task: row_cumsum expect: ok
# Chunks of 1024, each of which begins with what the one before it ended with.
import triton
import triton.language as tl


# @launch scan[(rows,)](x, y, cols, CHUNK=min(next_pow2(cols), 1024))
@triton.jit
def scan(x, y, cols, CHUNK: tl.constexpr):
    row = tl.program_id(0)
    before = 0.0
    for first in range(0, cols, CHUNK):
        col = first + tl.arange(0, CHUNK)
        value = tl.load(x + row * cols + col, mask=col < cols, other=0.0)
        tl.store(y + row * cols + col, before + tl.cumsum(value, 0), mask=col < cols)
        before += tl.sum(value, 0)
