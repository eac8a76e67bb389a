# task: relu expect: compile_error
# A function that calls itself.
import triton
import triton.language as tl


@triton.jit
def again(v):
    return again(v) + 1.0


# @launch relu[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    again(1.0)
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
