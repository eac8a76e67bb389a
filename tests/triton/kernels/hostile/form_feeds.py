# task: relu expect: ok|compile_error
# Form feeds, which end a line for splitlines() but not for Python: Triton takes the source of the kernel from some lines above.
import triton
import triton.language as tl

NOTE = """
"""


# @launch relu[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
