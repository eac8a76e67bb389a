# task: top_k_rows expect: ok
# The greatest eight of each chunk by four warps, then of them and the eight found before.
import triton
import triton.language as tl


# @launch select[(rows,)](x, y, cols, k, CHUNK=min(next_pow2(cols), 512), K=8)
@triton.jit
def select(x, y, cols, k, CHUNK: tl.constexpr, K: tl.constexpr):
    row = tl.program_id(0)
    best = tl.full((K,), float("-inf"), tl.float32)
    for first in range(0, cols, CHUNK):
        col = first + tl.arange(0, CHUNK)
        value = tl.load(x + row * cols + col, mask=col < cols, other=float("-inf"))
        best = tl.topk(tl.cat(best, tl.topk(value, K), can_reorder=True), K)
    tl.store(y + row * k + tl.arange(0, K), best)
