# task: matmul expect: runtime_fault|wrong_result
# The inner dimension is not masked.
import triton
import triton.language as tl


# @launch matmul[(ceil_div(m, 16), ceil_div(n, 16))](a, b, c, m, n, k)
@triton.jit
def matmul(a, b, c, m, n, k):
    r = tl.program_id(0) * 16 + tl.arange(0, 16)
    j = tl.program_id(1) * 16 + tl.arange(0, 16)
    total = tl.zeros((16, 16), tl.float32)
    for start in range(0, k, 16):
        e = start + tl.arange(0, 16)
        p = tl.load(a + r[:, None] * k + e[None, :], r[:, None] < m, other=0.0)
        q = tl.load(b + e[:, None] * n + j[None, :], j[None, :] < n, other=0.0)
        total = tl.dot(p, q, total, input_precision="ieee")
    tl.store(c + r[:, None] * n + j[None, :], total, (r[:, None] < m) & (j[None, :] < n))
