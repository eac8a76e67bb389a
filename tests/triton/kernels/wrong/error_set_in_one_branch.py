# task: relu expect: compile_error
# Line 13: `v` is not set if the branch is not taken.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 256),)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    i = tl.program_id(0) * 256 + tl.arange(0, 256)
    if size > 1000:
        v = tl.maximum(tl.load(inp + i, i < size), 0.0)
    tl.store(out + i, v, i < size)
