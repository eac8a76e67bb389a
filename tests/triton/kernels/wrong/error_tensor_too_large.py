# task: relu expect: compile_error
# Line 10: a block of 2^21 elements.
import triton
import triton.language as tl


# @launch relu[(1,)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    i = tl.arange(0, 2097152)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
