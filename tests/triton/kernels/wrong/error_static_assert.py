# task: relu expect: compile_error
# Line 10: its message is shown.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 96),)](inp, out, size, BLOCK=96)
@triton.jit
def relu(inp, out, size, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK % 64 == 0, "BLOCK is to be a multiple of 64")
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
