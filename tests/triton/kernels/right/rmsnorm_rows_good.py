# task: rmsnorm_rows expect: ok
# One row a program with as many warps as it has use for, and one reciprocal root a row.
import triton
import triton.language as tl


# @launch normalise[(R,)](inp, out, C, BLOCK=next_pow2(C), num_warps=max(1, min(16, next_pow2(C) / 256)))
@triton.jit
def normalise(inp, out, cols, BLOCK: tl.constexpr):
    col = tl.arange(0, BLOCK)
    at = tl.program_id(0) * cols + col
    value = tl.load(inp + at, mask=col < cols, other=0.0)
    factor = tl.rsqrt(tl.sum(value * value, 0) / cols + 1e-5)
    tl.store(out + at, value * factor, mask=col < cols)
