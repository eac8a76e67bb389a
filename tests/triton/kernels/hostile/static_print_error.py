# task: relu expect: ok
# Prints what looks like an error of the compiler.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    tl.static_print("kernel.cu(1): error: not me")
    tl.static_print("out of memory")
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
