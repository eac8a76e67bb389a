# task: matmul expect: runtime_fault|wrong_result
# Two programs add their half of the inner dimension to the same tile without atomics.
import triton
import triton.language as tl


# @launch zero[(ceil_div(m * n, 256),)](c, m * n)
# @launch matmul[(ceil_div(m, 16), ceil_div(n, 16), 2)](a, b, c, m, n, k)
@triton.jit
def zero(c, elements):
    i = tl.program_id(0) * 256 + tl.arange(0, 256)
    tl.store(c + i, tl.zeros((256,), tl.float32), i < elements)


@triton.jit
def matmul(a, b, c, m, n, k):
    r = tl.program_id(0) * 16 + tl.arange(0, 16)
    j = tl.program_id(1) * 16 + tl.arange(0, 16)
    total = tl.zeros((16, 16), tl.float32)
    for start in range(tl.program_id(2) * 16, k, 32):
        e = start + tl.arange(0, 16)
        p = tl.load(a + r[:, None] * k + e[None, :], (r[:, None] < m) & (e[None, :] < k), other=0.0)
        q = tl.load(b + e[:, None] * n + j[None, :], (e[:, None] < k) & (j[None, :] < n), other=0.0)
        total = tl.dot(p, q, total, input_precision="ieee")
    at = c + r[:, None] * n + j[None, :]
    inside = (r[:, None] < m) & (j[None, :] < n)
    tl.store(at, tl.load(at, inside) + total, inside)
