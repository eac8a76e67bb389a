# task: cosine_similarity expect: ok
# One row of both a program.
import triton
import triton.language as tl


# @launch similarity[(rows,)](a, b, y, cols, BLOCK=next_pow2(cols))
@triton.jit
def similarity(a, b, y, cols, BLOCK: tl.constexpr):
    col = tl.arange(0, BLOCK)
    u = tl.load(a + tl.program_id(0) * cols + col, mask=col < cols, other=0.0)
    v = tl.load(b + tl.program_id(0) * cols + col, mask=col < cols, other=0.0)
    sizes = tl.sqrt(tl.sum(u * u, 0)) * tl.sqrt(tl.sum(v * v, 0))
    tl.store(y + tl.program_id(0), tl.sum(u * v, 0) / tl.maximum(sizes, 1e-8))
