# task: relu expect: launch_error
# The constant has another name.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 256),)](inp, out, size, BLOCK_SIZE=256)
@triton.jit
def relu(inp, out, size, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
