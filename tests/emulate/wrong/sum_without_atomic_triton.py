# emulate: --launch 'total[(8,)](x, y, BLOCK=128)' --buffer x=i32[1024]:ones --buffer y=i32[1]:zeros
# fault: data_race 12
# Programs add to one element by a load and a store.
import triton
import triton.language as tl


@triton.jit
def total(x, y, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    found = tl.sum(tl.load(x + i), 0)
    tl.store(y, tl.load(y) + found)
