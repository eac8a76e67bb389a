# emulate: --launch 'add[(ceil_div(n, 128),)](x, y, z, n, BLOCK=128)' --value n=1000
# emulate: --buffer x=f32[n]:arange --buffer y=f32[n]:ones --buffer z=f32[n]
# holds: z = 1 2 3 4 5 6 7 8
# Adds two vectors; the mask guards the last block.
import triton
import triton.language as tl


@triton.jit
def add(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(z + i, tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask), mask=mask)
