# task: linear_bf16 expect: ok
# A tile of 32 by 32 a program, by tiles of 32 along k; the weights are read transposed.
import triton
import triton.language as tl


# @launch linear[(ceil_div(n, TILE), ceil_div(m, TILE))](x, w, bias, y, m, n, k, TILE=32)
@triton.jit
def linear(x, w, bias, y, m, n, k, TILE: tl.constexpr):
    row = (tl.program_id(1) * TILE + tl.arange(0, TILE))[:, None]
    col = (tl.program_id(0) * TILE + tl.arange(0, TILE))[None, :]
    total = tl.zeros((TILE, TILE), tl.float32)
    for first in range(0, k, TILE):
        e = first + tl.arange(0, TILE)
        left = tl.load(x + row * k + e[None, :], mask=(row < m) & (e < k)[None, :], other=0.0)
        right = tl.load(w + col * k + e[:, None], mask=(e < k)[:, None] & (col < n), other=0.0)
        total += tl.dot(left, right)
    total += tl.load(bias + col, mask=col < n, other=0.0).to(tl.float32)
    tl.store(y + row * n + col, total.to(tl.bfloat16), mask=(row < m) & (col < n))
