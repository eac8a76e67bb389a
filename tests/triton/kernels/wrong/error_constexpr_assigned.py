# task: relu expect: compile_error|wrong_result|ok
# Assigns to a parameter that is a constant, in a loop.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 256),)](inp, out, size, STEP=64)
@triton.jit
def relu(inp, out, size, STEP: tl.constexpr):
    for k in range(0, 4):
        STEP += 64
    i = tl.program_id(0) * 256 + tl.arange(0, STEP)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
