# task: relu expect: compile_error
# A constant names a module, which hides it from the checks of attributes.
import triton
import triton.language as tl

c = tl


# @launch relu[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    c.core.inspect.os.getpid()
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
