# task: relu expect: timeout|resource_limit|compile_error|rejected|launch_error
# The largest block for a single warp: 32,768 values in each thread.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 1048576),)](inp, out, size, num_warps=1)
@triton.jit
def relu(inp, out, size):
    i = tl.program_id(0) * 1048576 + tl.arange(0, 1048576)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0) + tl.sort(tl.load(inp + i, i < size)), i < size)
