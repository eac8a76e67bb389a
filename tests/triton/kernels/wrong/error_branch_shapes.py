# task: relu expect: compile_error
# Line 12: a variable is a block after one branch, a scalar after the other.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 256),)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    i = tl.program_id(0) * 256 + tl.arange(0, 256)
    v = 0.0
    if size > 1000:
        v = tl.maximum(tl.load(inp + i, i < size), 0.0)
    tl.store(out + i, v, i < size)
