# task: relu expect: ok|rejected|compile_error|launch_error
# The kernel has a name beyond ASCII.
import triton
import triton.language as tl


# @launch größe[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def größe(inp, out, size):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
