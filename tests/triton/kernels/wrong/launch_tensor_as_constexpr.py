# task: relu expect: launch_error|compile_error
# A tensor where a constant is due.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 256),)](inp, out, size, BLOCK=inp)
@triton.jit
def relu(inp, out, size, BLOCK: tl.constexpr):
    i = tl.program_id(0) * 256 + tl.arange(0, 256)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
