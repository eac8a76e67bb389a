# task: categorical_sample expect: ok
# Chunks of sums that are counted while they do not exceed the target.
import triton
import triton.language as tl


# @launch sample[(rows,)](weights, pick, token, cols, CHUNK=1024)
@triton.jit
def sample(weights, pick, token, cols, CHUNK: tl.constexpr):
    row = tl.program_id(0)
    weights += row.to(tl.int64) * cols
    lanes = tl.zeros((CHUNK,), tl.int64)
    for first in range(0, cols, CHUNK):
        col = first + tl.arange(0, CHUNK)
        lanes += tl.load(weights + col, mask=col < cols, other=0)
    target = (tl.load(pick + row).to(tl.int64) * tl.sum(lanes, 0)) >> 30
    before = tl.zeros((), tl.int64)
    count = 0
    for first in range(0, cols, CHUNK):
        col = first + tl.arange(0, CHUNK)
        weight = tl.load(weights + col, mask=col < cols, other=0).to(tl.int64)
        sums = before + tl.cumsum(weight, 0)
        count += tl.sum(((sums <= target) & (col < cols)).to(tl.int32), 0)
        before += tl.sum(weight, 0)
    tl.store(token + row, tl.minimum(count, cols - 1))
