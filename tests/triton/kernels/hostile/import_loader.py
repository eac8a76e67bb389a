# task: relu expect: compile_error|ok
# Imports the loader of a module, which reads files.
import triton
import triton.language as tl
from triton.language import __loader__ as loader


# @launch relu[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def relu(inp, out, size, a: tl.constexpr = loader.get_data(loader.path)[0:0]):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
