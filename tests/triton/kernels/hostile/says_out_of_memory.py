# task: relu expect: compile_error
# A message with the words of a compiler that is out of memory; the error is another one.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    tl.static_assert(False, "out of memory")
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
