# task: matmul expect: compile_error
# Line 12: a tile of 8 x 8 x 8 is too small for tl.dot.
import triton
import triton.language as tl


# @launch matmul[(1,)](a, b, c)
@triton.jit
def matmul(a, b, c):
    r = tl.arange(0, 8)
    p = tl.load(a + r[:, None] * 8 + r[None, :])
    total = tl.dot(p, p, input_precision="ieee")
    tl.store(c + r[:, None] * 8 + r[None, :], total)
