# task: swiglu expect: ok
# Gate and value are read by one program, and multiplied without memory in between.
import triton
import triton.language as tl


@triton.jit
def silu(value):
    return value * tl.sigmoid(value)


# @launch swiglu[(rows, ceil_div(half, BLOCK))](x, y, half, BLOCK=512)
@triton.jit
def swiglu(x, y, half, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    col = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    gate = tl.load(x + row * 2 * half + col, mask=col < half, other=0.0).to(tl.float32)
    value = tl.load(x + row * 2 * half + half + col, mask=col < half, other=0.0)
    tl.store(y + row * half + col, silu(gate) * value, mask=col < half)
