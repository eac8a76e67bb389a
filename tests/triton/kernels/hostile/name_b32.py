# task: relu expect: ok
# The kernel has a name that is a word of PTX.
import triton
import triton.language as tl


# @launch b32[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def b32(inp, out, size):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
