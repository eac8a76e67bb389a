# emulate: --launch 'double[(8,)](x, y, BLOCK=128)' --buffer x=f32[1000]:ones --buffer y=f32[1000]
# fault: illegal_address 11
# The last block has no mask.
import triton
import triton.language as tl


@triton.jit
def double(x, y, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, 2 * tl.load(x + i))
