# task: embedding_bag expect: ok
# Several bags a program in blocks of 64 columns, whose reads of the table overlap.
import triton
import triton.language as tl


# @launch mean[(ceil_div(bags, BAGS), ceil_div(dim, COLS))](table, ids, y, bags, dim, len, BAGS=8, COLS=64)
@triton.jit
def mean(table, ids, y, bags, dim, count, BAGS: tl.constexpr, COLS: tl.constexpr):
    bag = tl.program_id(0) * BAGS + tl.arange(0, BAGS)
    col = tl.program_id(1) * COLS + tl.arange(0, COLS)
    real = bag < bags
    inside = real[:, None] & (col < dim)[None, :]
    total = tl.zeros((BAGS, COLS), tl.float32)
    for j in range(count):
        chosen = tl.load(ids + bag * count + j, mask=real, other=0)
        total += tl.load(table + chosen[:, None] * dim + col[None, :], mask=inside, other=0.0)
    tl.store(y + bag[:, None] * dim + col[None, :], total / count, mask=inside)
