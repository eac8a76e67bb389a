# task: relu expect: ok|launch_error|compile_error
# The annotation is a text, which Triton reads, but the reader of directives does not.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 128),)](inp, out, size, BLOCK=128)
@triton.jit
def relu(inp, out, size, BLOCK: "tl.constexpr"):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
