# task: relu expect: compile_error
# Sets an attribute of a block argument, which the compiler does not survive.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    inp.handle.set_attr("a", (inp + 1).handle.get_context())
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
