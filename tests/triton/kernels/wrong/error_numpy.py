# task: relu expect: compile_error
# Line 14: numpy is not there.
import triton
import triton.language as tl


import numpy as np


# @launch relu[(ceil_div(size, 256),)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    i = tl.program_id(0) * 256 + tl.arange(0, 256)
    tl.store(out + i, np.maximum(tl.load(inp + i, i < size), 0.0), i < size)
