# task: matmul_half expect: compile_error
# Line 13: the operands of tl.dot have two types.
import triton
import triton.language as tl


# @launch matmul[(1,)](a, b, c)
@triton.jit
def matmul(a, b, c):
    r = tl.arange(0, 16)
    p = tl.load(a + r[:, None] * 16 + r[None, :])
    q = tl.load(b + r[:, None] * 16 + r[None, :]).to(tl.float32)
    total = tl.dot(p, q)
    tl.store(c + r[:, None] * 16 + r[None, :], total)
