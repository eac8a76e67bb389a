# task: row_mean expect: wrong_result
# Divides by the size of the block instead of the number of columns.
import triton
import triton.language as tl


# @launch row_mean[(h,)](data, out, w, BLOCK=next_pow2(w))
@triton.jit
def row_mean(data, out, w, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    tl.store(out + row, tl.sum(tl.load(data + row * w + i, i < w, other=0.0), 0) / BLOCK)
