# task: cosine_similarity expect: ok
# Chunks of 512 with three sums in lanes, which are reduced together.
import triton
import triton.language as tl


@triton.jit
def add_three(a0, a1, a2, b0, b1, b2):
    return a0 + b0, a1 + b1, a2 + b2


# @launch similarity[(rows,)](a, b, y, cols, CHUNK=512)
@triton.jit
def similarity(a, b, y, cols, CHUNK: tl.constexpr):
    first_of_row = tl.program_id(0) * cols
    aa = tl.zeros((CHUNK,), tl.float32)
    bb = tl.zeros((CHUNK,), tl.float32)
    ab = tl.zeros((CHUNK,), tl.float32)
    for first in range(0, cols, CHUNK):
        col = first + tl.arange(0, CHUNK)
        u = tl.load(a + first_of_row + col, mask=col < cols, other=0.0)
        v = tl.load(b + first_of_row + col, mask=col < cols, other=0.0)
        aa += u * u
        bb += v * v
        ab += u * v
    aa, bb, ab = tl.reduce((aa, bb, ab), 0, add_three)
    tl.store(y + tl.program_id(0), ab / tl.maximum(tl.sqrt(aa) * tl.sqrt(bb), 1e-8))
