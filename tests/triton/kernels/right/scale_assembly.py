# task: scale expect: ok
# The product is an instruction of PTX that the kernel writes itself.
import triton
import triton.language as tl


# @launch scale[(ceil_div(n, BLOCK),)](x, y, alpha, n, BLOCK=256)
@triton.jit
def scale(x, y, alpha, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n, other=0.0)
    product = tl.inline_asm_elementwise("mul.rn.f32 $0, $1, $2;", "=f,f,f", [value, alpha + tl.zeros_like(value)],
                                        dtype=tl.float32, is_pure=True, pack=1)
    tl.store(y + at, product, mask=at < n)
