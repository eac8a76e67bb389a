# task: relu expect: launch_error
# A grid has three axes.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 256), 1, 1, 1)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    i = tl.program_id(0) * 256 + tl.arange(0, 256)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
