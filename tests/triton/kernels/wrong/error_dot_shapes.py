# task: matmul expect: compile_error
# Line 15: the inner dimensions of tl.dot differ.
import triton
import triton.language as tl


# @launch matmul[(1,)](a, b, c, m, n, k)
@triton.jit
def matmul(a, b, c, m, n, k):
    r = tl.arange(0, 16)
    e = tl.arange(0, 32)
    p = tl.load(a + r[:, None] * k + e[None, :])
    q = tl.load(b + r[:, None] * n + r[None, :])
    v = p * 2.0
    total = tl.dot(v, q)
    tl.store(c + r[:, None] * n + r[None, :], total)
