# task: relu expect: compile_error|ok
# An argument of @triton.jit is a function, which Triton calls.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 128),)](inp, out, size)
@triton.jit(launch_metadata=lambda *a: 1, repr=lambda _: "} .entry x")
def relu(inp, out, size):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
