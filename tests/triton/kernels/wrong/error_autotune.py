# task: relu expect: compile_error
# Line 8: configurations are not tried here.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 256),)](inp, out, size)
@triton.autotune(configs=[triton.Config({"BLOCK": 256})], key=["size"])
@triton.jit
def relu(inp, out, size, BLOCK: tl.constexpr = 256):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
