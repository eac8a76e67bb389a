# task: bias_gelu_residual expect: ok
# One block of elements a program, which finds its column by a remainder.
import triton
import triton.language as tl
from triton.language.extra import libdevice


# @launch gelu[(ceil_div(rows * cols, BLOCK),)](x, b, res, y, rows * cols, cols, BLOCK=512)
@triton.jit
def gelu(x, b, res, y, size, cols, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < size
    v = tl.load(x + at, mask=inside, other=0.0) + tl.load(b + at % cols, mask=inside, other=0.0)
    curve = 0.5 * v * (1.0 + libdevice.tanh(0.7978845608 * (v + 0.044715 * v * v * v)))
    tl.store(y + at, curve + tl.load(res + at, mask=inside), mask=inside)
