# task: csr_spmv expect: ok
# One row a program, in blocks of its elements.
import triton
import triton.language as tl


# @launch multiply[(rows,)](offsets, vals, at, x, y, BLOCK=32, num_warps=1)
@triton.jit
def multiply(offsets, vals, at, x, y, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    begin = tl.load(offsets + row)
    end = tl.load(offsets + row + 1)
    products = tl.zeros((BLOCK,), tl.float32)
    for first in range(begin, end, BLOCK):
        k = first + tl.arange(0, BLOCK)
        inside = k < end
        column = tl.load(at + k, mask=inside, other=0)
        products += tl.load(vals + k, mask=inside, other=0.0) * tl.load(x + column, mask=inside, other=0.0)
    tl.store(y + row, tl.sum(products, 0))
