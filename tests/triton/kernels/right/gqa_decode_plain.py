# task: gqa_decode expect: ok
# One head a program, with the softmax rescaled as the cache is read.
import triton
import triton.language as tl


# @launch decode[(heads,)](q, keys, vals, out, scale, group, n, d, KEYS=8, DIM=next_pow2(d), num_warps=1)
@triton.jit
def decode(q, keys, vals, out, scale, group, n, d, KEYS: tl.constexpr, DIM: tl.constexpr):
    head = tl.program_id(0)
    base = (head // group).to(tl.int64) * n * d
    e = tl.arange(0, DIM)
    query = tl.load(q + head * d + e, mask=e < d, other=0.0) * scale
    top = float("-inf")
    sums = 0.0
    total = tl.zeros((DIM,), tl.float32)
    for first in range(0, n, KEYS):
        t = first + tl.arange(0, KEYS)
        inside = (t < n)[:, None] & (e < d)[None, :]
        key = tl.load(keys + base + t[:, None] * d + e[None, :], mask=inside, other=0.0)
        score = tl.where(t < n, tl.sum(tl.where(inside, key * query[None, :], 0.0), 1), float("-inf"))
        higher = tl.maximum(top, tl.max(score, 0))
        weight = tl.exp(score - higher)
        old = tl.exp(top - higher)
        value = tl.load(vals + base + t[:, None] * d + e[None, :], mask=inside, other=0.0)
        sums = sums * old + tl.sum(weight, 0)
        total = total * old + tl.sum(tl.where(inside, weight[:, None] * value, 0.0), 0)
        top = higher
    tl.store(out + head * d + e, total / sums, mask=e < d)
