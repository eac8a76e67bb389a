# task: relu expect: launch_error|compile_error
# A difference of numbers with a point.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 128),)](inp, out, size, MODE=1.5-3.5)
@triton.jit
def relu(inp, out, size, MODE: tl.constexpr = None):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
