# task: relu expect: compile_error|timeout|resource_limit
# Prints very much while it is compiled.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    for j in tl.static_range(2000):
        tl.static_print("x" * 100000)
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
