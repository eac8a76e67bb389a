# task: relu expect: ok|timeout|resource_limit|compile_error
# A text of 60 GB.
import triton
import triton.language as tl

A = "x" * 60000000000


# @launch relu[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
