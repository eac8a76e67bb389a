# task: relu expect: compile_error
# Line 11: a store to a value, not to a pointer.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 256),)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    i = tl.program_id(0) * 256 + tl.arange(0, 256)
    tl.store(tl.load(out + i), tl.load(inp + i), i < size)
