# task: relu expect: compile_error
# Imports the drivers.
import triton
import triton.language as tl
from triton.backends import backends
from triton.runtime import driver


# @launch relu[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    driver.active.get_current_target()
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
