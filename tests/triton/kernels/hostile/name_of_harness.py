# task: relu expect: rejected
# The kernel has a name of the harness.
import triton
import triton.language as tl


# @launch krl_x[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def krl_x(inp, out, size):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
