# task: matmul expect: launch_error
# Twelve stages of two tiles of 16 KiB are more than a block's shared memory. (Odd numbers have one kernel for all sizes.)
import triton
import triton.language as tl


# @launch matmul[(ceil_div(m, 64), ceil_div(n, 64))](a, b, c, 2 * m + 1, 2 * n + 1, 2 * k + 1, num_stages=12)
@triton.jit
def matmul(a, b, c, m, n, k):
    m = m // 2
    n = n // 2
    k = k // 2
    r = tl.program_id(0) * 64 + tl.arange(0, 64)
    j = tl.program_id(1) * 64 + tl.arange(0, 64)
    total = tl.zeros((64, 64), tl.float32)
    for start in range(0, k, 64):
        e = start + tl.arange(0, 64)
        p = tl.load(a + r[:, None] * k + e[None, :], (r[:, None] < m) & (e[None, :] < k), other=0.0)
        q = tl.load(b + e[:, None] * n + j[None, :], (e[:, None] < k) & (j[None, :] < n), other=0.0)
        total = tl.dot(p, q, total)
    tl.store(c + r[:, None] * n + j[None, :], total, (r[:, None] < m) & (j[None, :] < n))
