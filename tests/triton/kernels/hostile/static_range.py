# task: relu expect: timeout|resource_limit|compile_error
# Unrolls a loop of 10^9 steps.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    for j in tl.static_range(1000000000):
        size += j
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
