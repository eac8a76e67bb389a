# task: relu expect: launch_error on-gpu: ok
# More than 65,535 programs along y at the real size.
import triton
import triton.language as tl


# @launch relu[(1, ceil_div(size, 256))](inp, out, size)
@triton.jit
def relu(inp, out, size):
    i = tl.program_id(1) * 256 + tl.arange(0, 256)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
