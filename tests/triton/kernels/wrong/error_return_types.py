# task: relu expect: compile_error
# Line 11: two returns of different types.
import triton
import triton.language as tl


@triton.jit
def positive(v, size):
    if size > 1000:
        return tl.maximum(v, 0.0)
    return 0


# @launch relu[(ceil_div(size, 256),)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    i = tl.program_id(0) * 256 + tl.arange(0, 256)
    tl.store(out + i, positive(tl.load(inp + i, i < size), size), i < size)
