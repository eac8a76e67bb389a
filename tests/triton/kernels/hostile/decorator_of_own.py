# task: relu expect: compile_error|launch_error
# A decorator with code beside triton.jit.
import triton
import triton.language as tl


def twice(f):
    return f


# @launch relu[(ceil_div(size, 128),)](inp, out, size)
@twice
@triton.jit
def relu(inp, out, size):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
