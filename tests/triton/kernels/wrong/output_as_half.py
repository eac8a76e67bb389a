# task: relu expect: wrong_result|runtime_fault
# The output is written as float16.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 256),)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    i = tl.program_id(0) * 256 + tl.arange(0, 256)
    v = tl.maximum(tl.load(inp + i, i < size), 0.0).to(tl.float16)
    tl.store(out.to(tl.pointer_type(tl.float16)) + i, v, i < size)
