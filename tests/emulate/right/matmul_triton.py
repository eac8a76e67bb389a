# emulate: --launch 'matmul[(2, 2)](a, b, c, 64, BLOCK=32)' --buffer a=f16[64,64]:ones --buffer b=f16[64,64]:2 --buffer c=f32[64,64]
# holds: c = 128 128 128 128
# A tiled product with tl.dot.
import triton
import triton.language as tl


@triton.jit
def matmul(a, b, c, n, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for k in range(0, n, BLOCK):
        inner = k + tl.arange(0, BLOCK)
        left = tl.load(a + rows[:, None] * n + inner[None, :])
        right = tl.load(b + inner[:, None] * n + cols[None, :])
        total += tl.dot(left, right)
    tl.store(c + rows[:, None] * n + cols[None, :], total)
