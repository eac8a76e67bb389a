# task: attention_row expect: ok
# The keys are split among programs of four warps, and a second launch joins what they found.
import triton
import triton.language as tl


# @scratch part float32[ceil_div(n, 128) * d]
# @scratch tops float32[ceil_div(n, 128)]
# @scratch sums float32[ceil_div(n, 128)]
# @launch attend[(tops.size,)](q, keys, vals, part, tops, sums, scale, n, d, SPLIT=128, KEYS=16, DIM=next_pow2(d))
@triton.jit
def attend(q, keys, vals, part, tops, sums, scale, n, d, SPLIT: tl.constexpr, KEYS: tl.constexpr, DIM: tl.constexpr):
    split = tl.program_id(0)
    e = tl.arange(0, DIM)
    query = tl.load(q + e, mask=e < d, other=0.0) * scale
    top = float("-inf")
    total_weight = 0.0
    total = tl.zeros((DIM,), tl.float32)
    for first in range(split * SPLIT, min(n, split * SPLIT + SPLIT), KEYS):
        t = first + tl.arange(0, KEYS)
        inside = (t < n)[:, None] & (e < d)[None, :]
        key = tl.load(keys + t[:, None] * d + e[None, :], mask=inside, other=0.0)
        value = tl.load(vals + t[:, None] * d + e[None, :], mask=inside, other=0.0)
        product = tl.where(inside, key * query[None, :], 0.0)
        score = tl.where(t < n, tl.sum(product, 1), float("-inf"))
        higher = tl.maximum(top, tl.max(score, 0))
        weight = tl.exp(score - higher)
        old = tl.exp(top - higher)
        total_weight = total_weight * old + tl.sum(weight, 0)
        total = total * old + tl.sum(weight[:, None] * value, 0)
        top = higher
    tl.store(part + split * d + e, total, mask=e < d)
    tl.store(tops + split, top)
    tl.store(sums + split, total_weight)


# @launch join[(ceil_div(d, 64),)](part, tops, sums, out, tops.size, d, BLOCK=64, SPLITS=next_pow2(ceil_div(n, 128)))
@triton.jit
def join(part, tops, sums, out, splits, d, BLOCK: tl.constexpr, SPLITS: tl.constexpr):
    split = tl.arange(0, SPLITS)
    top = tl.load(tops + split, mask=split < splits, other=float("-inf"))
    highest = tl.max(top, 0)
    weights = tl.exp(top - highest) * tl.load(sums + split, mask=split < splits, other=0.0)
    c = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for one in range(splits):
        factor = tl.exp(tl.load(tops + one) - highest)
        total += factor * tl.load(part + one * d + c, mask=c < d, other=0.0)
    tl.store(out + c, total / tl.sum(weights, 0), mask=c < d)
