# task: relu expect: compile_error|launch_error
# A kernel takes no variable number of arguments.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 256),)](inp, out, size)
@triton.jit
def relu(inp, *rest):
    i = tl.program_id(0) * 256 + tl.arange(0, 256)
    tl.store(rest[0] + i, tl.maximum(tl.load(inp + i, i < rest[1]), 0.0), i < rest[1])
