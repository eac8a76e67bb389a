# task: rmsnorm_rows expect: ok
# One row a program, held in registers.
import triton
import triton.language as tl


# @launch normalise[(R,)](inp, out, C, BLOCK=next_pow2(C))
@triton.jit
def normalise(inp, out, cols, BLOCK: tl.constexpr):
    col = tl.arange(0, BLOCK)
    at = tl.program_id(0) * cols + col
    value = tl.load(inp + at, mask=col < cols, other=0.0)
    tl.store(out + at, value / tl.sqrt(tl.sum(value * value, 0) / cols + 1e-5), mask=col < cols)
