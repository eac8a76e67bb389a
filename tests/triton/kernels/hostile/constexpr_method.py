# task: relu expect: compile_error
# Reads a class through a constant.
import triton
import triton.language as tl

X = tl.constexpr(1)


# @launch relu[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    X.value.real.__class__
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
