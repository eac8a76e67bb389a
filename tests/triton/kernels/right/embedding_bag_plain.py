# task: embedding_bag expect: ok
# One bag a program, with its whole mean in registers.
import triton
import triton.language as tl


# @launch mean[(bags,)](table, ids, y, dim, len, DIM=next_pow2(dim))
@triton.jit
def mean(table, ids, y, dim, count, DIM: tl.constexpr):
    bag = tl.program_id(0)
    col = tl.arange(0, DIM)
    inside = col < dim
    total = tl.zeros((DIM,), tl.float32)
    for j in range(count):
        chosen = tl.load(ids + bag * count + j)
        total += tl.load(table + chosen * dim + col, mask=inside, other=0.0)
    tl.store(y + bag * dim + col, total / count, mask=inside)
