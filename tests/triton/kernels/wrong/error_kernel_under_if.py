# task: relu expect: compile_error|launch_error|ok
# The kernel is defined under a condition.
import triton
import triton.language as tl


if True:
    # @launch relu[(ceil_div(size, 256),)](inp, out, size)
    @triton.jit
    def relu(inp, out, size):
        i = tl.program_id(0) * 256 + tl.arange(0, 256)
        tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
