# task: group_norm expect: ok
# A group of channels a program, in chunks that cross the channels.
import triton
import triton.language as tl


# @launch group_norm[(batch * groups,)](x, gamma, beta, y, groups, width, len, eps=1e-5, BLOCK=512, num_warps=4)
@triton.jit
def group_norm(x, gamma, beta, y, groups, width, length, eps: tl.constexpr, BLOCK: tl.constexpr):
    size = width * length
    base = tl.program_id(0).to(tl.int64) * size
    channel = tl.program_id(0) % groups * width
    sums = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, size, BLOCK):
        at = first + tl.arange(0, BLOCK)
        sums += tl.load(x + base + at, mask=at < size, other=0.0)
    mean = tl.sum(sums, 0) / size
    squares = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, size, BLOCK):
        at = first + tl.arange(0, BLOCK)
        difference = tl.where(at < size, tl.load(x + base + at, mask=at < size, other=0.0) - mean, 0.0)
        squares += difference * difference
    factor = tl.rsqrt(tl.sum(squares, 0) / size + eps)
    for first in range(0, size, BLOCK):
        at = first + tl.arange(0, BLOCK)
        inside = at < size
        scale = tl.load(gamma + channel + at // length, mask=inside, other=0.0) * factor
        shift = tl.load(beta + channel + at // length, mask=inside, other=0.0)
        value = tl.load(x + base + at, mask=inside, other=0.0)
        tl.store(y + base + at, (value - mean) * scale + shift, mask=inside)
