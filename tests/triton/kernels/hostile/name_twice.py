# task: relu expect: ok|compile_error|launch_error|wrong_result
# Two kernels of one name: Python keeps the second.
import triton
import triton.language as tl


@triton.jit
def relu(inp, out, size):
    tl.store(out, 1.0)


# @launch relu[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
