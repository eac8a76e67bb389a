# task: relu expect: compile_error
# Calls the function that @triton.jit wraps, as Python, with frames as above. If it runs, it says that it is out of memory, and the verdict is `resource_limit`.
import triton
import triton.language as tl


@triton.jit
def helper():
    g = [None]
    g[0] = (g[0].gi_frame.f_back.f_back.f_builtins for i in (1,))
    b = [*g[0]][0]
    b["exec"]("import os; os.write(1, b\"out of\" b\" memory\"); os._exit(1)", {"__builtins__": b})


# @launch relu[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    helper.fn()
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
