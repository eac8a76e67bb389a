# task: relu expect: compile_error
# A line separator in a comment: the second kernel must not get the source of the first.
import triton
import triton.language as tl


# @launch zero[(ceil_div(size, 128),)](out, size)
# @launch relu[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def zero(out, size):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.zeros((128,), tl.float32), i < size)


# one two three
@triton.jit
def relu(inp, out, size):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
