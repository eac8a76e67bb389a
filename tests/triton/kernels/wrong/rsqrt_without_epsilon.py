# task: rmsnorm_rows expect: wrong_result
# No epsilon: rows of zeros give NaN.
import triton
import triton.language as tl


# @launch norm[(R,)](inp, out, C, BLOCK=next_pow2(C))
@triton.jit
def norm(inp, out, C, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(inp + tl.program_id(0) * C + i, i < C, other=0.0)
    tl.store(out + tl.program_id(0) * C + i, v * tl.rsqrt(tl.sum(v * v, 0) / C), i < C)
