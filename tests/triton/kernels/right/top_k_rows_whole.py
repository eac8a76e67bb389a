# task: top_k_rows expect: ok
# Triton's own selection of the k greatest from whole rows.
import triton
import triton.language as tl


# @launch select[(rows,)](x, y, cols, k, BLOCK=next_pow2(cols), K=8)
@triton.jit
def select(x, y, cols, k, BLOCK: tl.constexpr, K: tl.constexpr):
    row = tl.program_id(0)
    col = tl.arange(0, BLOCK)
    value = tl.load(x + row * cols + col, mask=col < cols, other=float("-inf"))
    tl.store(y + row * k + tl.arange(0, K), tl.topk(value, K))
