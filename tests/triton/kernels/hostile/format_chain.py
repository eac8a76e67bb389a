# task: relu expect: compile_error
# A format string follows attributes that no check sees.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    tl.static_assert(False, "{0.load.__globals__[__name__]}".format(tl))
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
