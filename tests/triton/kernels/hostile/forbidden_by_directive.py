# task: relu expect: ok
# A text that mentions another language.
import triton
import triton.language as tl

# import os
# .version 8.0
# __global__ void kernel() {}


# @launch relu[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
