# task: relu expect: compile_error
# Line 11: an offset that is a float.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 256),)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    i = tl.program_id(0) * 256 / 1 + tl.arange(0, 256)
    v = tl.load(inp + i, i < size)
    tl.store(out + i, tl.maximum(v, 0.0), i < size)
