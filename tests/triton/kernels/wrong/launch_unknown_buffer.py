# task: relu expect: launch_error
# The task has no tensor x.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 256),)](x, out, size)
@triton.jit
def relu(x, out, size):
    i = tl.program_id(0) * 256 + tl.arange(0, 256)
    tl.store(out + i, tl.maximum(tl.load(x + i, i < size), 0.0), i < size)
