# task: residual_rmsnorm expect: runtime_fault|wrong_result on-gpu: ok|wrong_result|nondeterministic
# Programs of half a row read the other half, which another program changes in place.
import triton
import triton.language as tl


# @launch norm[(rows, 2)](x, res, gamma, y, cols, BLOCK=next_pow2(cols))
@triton.jit
def norm(x, res, gamma, y, cols, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = tl.program_id(0) * cols + i
    v = tl.load(x + at, i < cols, other=0.0) + tl.load(res + at, i < cols, other=0.0)
    s = 1.0 / tl.sqrt(tl.sum(v * v, 0) / cols + 1e-5)
    mine = (i < cols) & (i % 2 == tl.program_id(1))
    tl.store(res + at, v, mine)
    tl.store(y + at, v * s * tl.load(gamma + i, i < cols, other=0.0), mine)
