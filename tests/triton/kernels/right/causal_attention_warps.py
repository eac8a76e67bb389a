# task: causal_attention expect: ok
# A block of queries a program of four warps; the softmax is rescaled as keys are read, up to the diagonal.
import triton
import triton.language as tl


# @launch attention[(ceil_div(n, QUERIES), heads)](q, keys, vals, out, scale, n, d, QUERIES=16, KEYS=16, DIM=max(16, next_pow2(d)), num_warps=4)
@triton.jit
def attention(q, keys, vals, out, scale, n, d, QUERIES: tl.constexpr, KEYS: tl.constexpr, DIM: tl.constexpr):
    base = tl.program_id(1) * n * d
    i = tl.program_id(0) * QUERIES + tl.arange(0, QUERIES)
    e = tl.arange(0, DIM)
    inside = (i < n)[:, None] & (e < d)[None, :]
    at = base + i[:, None] * d + e[None, :]
    query = tl.load(q + at, mask=inside, other=0.0) * (scale * 1.4426950408889634)
    top = tl.full((QUERIES,), float("-inf"), tl.float32)
    sums = tl.zeros((QUERIES,), tl.float32)
    total = tl.zeros((QUERIES, DIM), tl.float32)
    for first in range(0, min(n, (tl.program_id(0) + 1) * QUERIES), KEYS):
        t = first + tl.arange(0, KEYS)
        near = (t < n)[:, None] & (e < d)[None, :]
        key = tl.load(keys + base + t[:, None] * d + e[None, :], mask=near, other=0.0)
        score = tl.dot(query, tl.trans(key), input_precision="ieee")
        score = tl.where((t[None, :] <= i[:, None]) & (t < n)[None, :], score, float("-inf"))
        higher = tl.maximum(top, tl.max(score, 1))
        power = tl.exp2(score - higher[:, None])
        old = tl.exp2(top - higher)
        value = tl.load(vals + base + t[:, None] * d + e[None, :], mask=near, other=0.0)
        sums = sums * old + tl.sum(power, 1)
        total = tl.dot(power, value, total * old[:, None], input_precision="ieee")
        top = higher
    tl.store(out + at, total / sums[:, None], mask=inside)
