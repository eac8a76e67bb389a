# task: linear_bf16 expect: wrong_result
# The sum is rounded to bfloat16 before the bias is added.
import triton
import triton.language as tl


# @launch linear[(ceil_div(m, 16), ceil_div(n, 16))](x, w, bias, y, m, n, k)
@triton.jit
def linear(x, w, bias, y, m, n, k):
    r = tl.program_id(0) * 16 + tl.arange(0, 16)
    j = tl.program_id(1) * 16 + tl.arange(0, 16)
    total = tl.zeros((16, 16), tl.float32)
    for start in range(0, k, 16):
        e = start + tl.arange(0, 16)
        p = tl.load(x + r[:, None] * k + e[None, :], (r[:, None] < m) & (e[None, :] < k), other=0.0)
        q = tl.load(w + j[None, :] * k + e[:, None], (e[:, None] < k) & (j[None, :] < n), other=0.0)
        total = tl.dot(p, q, total)
    b = tl.load(bias + j, j < n, other=0.0)
    tl.store(y + r[:, None] * n + j[None, :], total.to(tl.bfloat16) + b[None, :],
             (r[:, None] < m) & (j[None, :] < n))
