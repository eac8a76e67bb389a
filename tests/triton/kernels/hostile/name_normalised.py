# task: relu expect: ok|rejected|compile_error|launch_error
# Python makes other letters of the name.
import triton
import triton.language as tl


# @launch ﬁnd[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def ﬁnd(inp, out, size):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
