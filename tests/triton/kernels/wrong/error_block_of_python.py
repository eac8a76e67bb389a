# task: relu expect: compile_error
# Line 13: a global that is no tl.constexpr.
import triton
import triton.language as tl


BLOCK = 256


# @launch relu[(ceil_div(size, 256),)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    i = tl.program_id(0) * BLOCK + tl.arange(0, 256)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
