# task: relu expect: compile_error
# Line 11: tl.program_id takes one argument.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 256),)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    # a comment
    i = tl.program_id(0, 1, 2) * 256 + tl.arange(0, 256)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
