# task: relu expect: compile_error
# Line 15: the helper lacks @triton.jit.
import triton
import triton.language as tl


def positive(v):
    return tl.maximum(v, 0.0)


# @launch relu[(ceil_div(size, 256),)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    i = tl.program_id(0) * 256 + tl.arange(0, 256)
    tl.store(out + i, positive(tl.load(inp + i, i < size)), i < size)
