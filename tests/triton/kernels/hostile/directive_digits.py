# task: relu expect: launch_error
# Digits beyond ASCII.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 128),)](inp, out, size, MODE=１２８)
@triton.jit
def relu(inp, out, size, MODE: tl.constexpr = None):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
