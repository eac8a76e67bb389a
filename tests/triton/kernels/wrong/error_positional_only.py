# task: relu expect: compile_error|launch_error|ok
# Parameters that are positional only, and keyword only.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 256),)](inp, out, size, BLOCK=256)
@triton.jit
def relu(inp, out, /, size, *, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
