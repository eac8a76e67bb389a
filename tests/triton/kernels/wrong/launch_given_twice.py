# task: relu expect: launch_error
# An argument by position and by name.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 256),)](inp, out, size, inp=inp)
@triton.jit
def relu(inp, out, size):
    i = tl.program_id(0) * 256 + tl.arange(0, 256)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
