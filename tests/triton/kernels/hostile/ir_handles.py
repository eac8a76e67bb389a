# task: relu expect: compile_error
# Reaches the compiler's own objects by a value's handle.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    a = tl.arange(0, 128)
    a.handle.replace_all_uses_with(a.handle)
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
