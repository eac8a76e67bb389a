# task: relu expect: compile_error|ok
# A kernel that is called tl.
import triton
import triton.language as tl


# @launch tl[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def tl(inp, out, size):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
