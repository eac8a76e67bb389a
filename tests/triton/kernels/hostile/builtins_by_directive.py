# task: relu expect: compile_error|launch_error
# The directive names what has underscores.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 128),)](inp, out, size, M=tl.__builtins__)
@triton.jit
def relu(inp, out, size, M: tl.constexpr):
    M.get("exec")("import os; os.write(1, b\"out of\" b\" memory\"); os._exit(1)", M)
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
