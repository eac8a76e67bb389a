# task: relu expect: compile_error
# The default of a constant names a function of os, which the kernel calls.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def relu(inp, out, size, a: tl.constexpr = tl.core.inspect.os.getpid):
    a()
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
