# task: leaky_relu expect: ok
# Blocks of 2048 over 8 warps, with the activation chosen by a constant.
import triton
import triton.language as tl


@triton.jit
def activate(value, slope, ACTIVATION: tl.constexpr):
    if ACTIVATION == "leaky_relu":
        return tl.maximum(value, slope * value)
    else:
        return tl.maximum(value, 0.0)


# @launch apply[(ceil_div(n, BLOCK),)](p, q, slope, n, ACTIVATION="leaky_relu", BLOCK=2048, num_warps=8)
@triton.jit
def apply(p, q, slope, n, ACTIVATION: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    value = tl.load(p + at, mask=inside, other=0.0)
    tl.store(q + at, activate(value, slope, ACTIVATION), mask=inside)
