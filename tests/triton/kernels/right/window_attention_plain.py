# task: window_attention expect: ok
# One query a program, whose window of 64 keys is one tile.
import triton
import triton.language as tl


# @launch attend[(heads * n,)](q, keys, vals, out, scale, n, d, WINDOW=window, DIM=next_pow2(d), num_warps=8)
@triton.jit
def attend(q, keys, vals, out, scale, n, d, WINDOW: tl.constexpr, DIM: tl.constexpr):
    row = tl.program_id(0)
    i = row % n
    e = tl.arange(0, DIM)
    back = tl.arange(0, WINDOW)
    query = tl.load(q + row * d + e, mask=e < d, other=0.0)
    inside = (back <= i)[:, None] & (e < d)[None, :]
    at = (row - back)[:, None] * d + e[None, :]
    product = tl.load(keys + at, mask=inside, other=0.0) * query[None, :]
    score = tl.where(back <= i, scale * tl.sum(tl.where(inside, product, 0.0), 1), float("-inf"))
    power = tl.exp(score - tl.max(score, 0))
    weight = power / tl.sum(power, 0)
    total = tl.sum(tl.load(vals + at, mask=inside, other=0.0) * weight[:, None], 0)
    tl.store(out + row * d + e, total, mask=e < d)
