# task: relu expect: compile_error|launch_error
# Two kernels of one name with different parameters: the directive is read for the first, and Python keeps the second.
import triton
import triton.language as tl


@triton.jit
def relu(inp, out):
    tl.store(out, 1.0)


# @launch relu[(ceil_div(size, 128),)](inp, out)
@triton.jit
def relu(inp, out, size):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
