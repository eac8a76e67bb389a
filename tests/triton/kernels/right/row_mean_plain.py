# task: row_mean expect: ok
# One row a program, held in registers.
import triton
import triton.language as tl


# @launch mean[(h,)](data, out, w, BLOCK=next_pow2(w))
@triton.jit
def mean(data, out, w, BLOCK: tl.constexpr):
    col = tl.arange(0, BLOCK)
    value = tl.load(data + tl.program_id(0) * w + col, mask=col < w, other=0.0)
    tl.store(out + tl.program_id(0), tl.sum(value, 0) / w)
