# task: relu expect: launch_error|compile_error
# A block has at most 32 warps.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 4096),)](inp, out, size, num_warps=64)
@triton.jit
def relu(inp, out, size):
    i = tl.program_id(0) * 4096 + tl.arange(0, 4096)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
