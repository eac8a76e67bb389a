# task: relu expect: compile_error
# Line 12: a Python list of blocks that grows.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 256),)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    i = tl.program_id(0) * 256 + tl.arange(0, 256)
    parts = []
    parts.append(tl.load(inp + i, i < size))
    tl.store(out + i, tl.maximum(parts[0], 0.0), i < size)
