# task: row_max expect: ok
# One row a program, held in registers.
import triton
import triton.language as tl


# @launch greatest[(m,)](src, dst, n, BLOCK=next_pow2(n))
@triton.jit
def greatest(src, dst, n, BLOCK: tl.constexpr):
    col = tl.arange(0, BLOCK)
    value = tl.load(src + tl.program_id(0) * n + col, mask=col < n, other=float("-inf"))
    tl.store(dst + tl.program_id(0), tl.max(value, 0))
