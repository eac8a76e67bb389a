# task: relu expect: compile_error
# sys.modules is a name in triton.language.extra. If it runs, it says that it is out of memory, and the verdict is `resource_limit`.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def relu(inp, out, size, a: tl.constexpr = tl.extra.modules["builtins"].exec("import os; os.write(1, b\"out of\" b\" memory\"); os._exit(1)", {"__builtins__": tl.extra.modules["builtins"]})):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
