# task: row_mean expect: ok
# Eight rows a program, in chunks of 32 columns, so that a warp has whole rows to add up.
import triton
import triton.language as tl


# @launch mean[(ceil_div(h, ROWS),)](data, out, h, w, ROWS=8, CHUNK=32, num_warps=4)
@triton.jit
def mean(data, out, h, w, ROWS: tl.constexpr, CHUNK: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    sums = tl.zeros((ROWS, CHUNK), tl.float32)
    for first in range(0, w, CHUNK):
        col = first + tl.arange(0, CHUNK)
        inside = (row < h)[:, None] & (col < w)[None, :]
        sums += tl.load(data + row[:, None] * w + col[None, :], mask=inside, other=0.0)
    tl.store(out + row, tl.sum(sums, 1) / w, mask=row < h)
