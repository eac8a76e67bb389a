# task: relu expect: compile_error
# Line 11: `zero` is not defined; the kernel calls it in line 18.
import triton
import triton.language as tl


@triton.jit
def positive(v):
    """max(v, 0)"""

    return tl.maximum(v, zero)


# @launch relu[(ceil_div(size, 256),)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    i = tl.program_id(0) * 256 + tl.arange(0, 256)
    v = positive(tl.load(inp + i, i < size))
    tl.store(out + i, v, i < size)
