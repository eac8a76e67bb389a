# task: relu expect: compile_error
# Has the compiler replace a value by one of another type.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    a = tl.load(inp)
    a.handle.replace_all_uses_with(inp.handle)
    if size < 0:
        tl.store(out, a)
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
