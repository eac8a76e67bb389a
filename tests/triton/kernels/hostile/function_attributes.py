# task: relu expect: compile_error
# Methods of a compiled function from within another.
import triton
import triton.language as tl


@triton.jit
def helper():
    pass


# @launch relu[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    helper.add_pre_run_hook(print)
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
