# task: swiglu expect: wrong_result
# The gate is the second half.
import triton
import triton.language as tl


# @launch swiglu[(rows,)](x, y, half, BLOCK=next_pow2(half))
@triton.jit
def swiglu(x, y, half, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = x + tl.program_id(0) * 2 * half
    a = tl.load(at + i, i < half, other=0.0)
    g = tl.load(at + half + i, i < half, other=0.0)
    tl.store(y + tl.program_id(0) * half + i, a * g * tl.sigmoid(g), i < half)
