# task: relu expect: compile_error
# Line separators in a text move the lines: what is compiled is this text, which nothing has checked.
import triton
import triton.language as tl

NOTE = """        

@triton.jit
def relu(inp, out, size):
    tl.core.inspect.os.getpid()
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
"""

# @launch relu[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
