# task: relu expect: compile_error
# Names with underscores are imported from a module that kernels use. If it runs, it says that it is out of memory, and the verdict is `resource_limit`.
import triton
import triton.language as tl
from triton.language import __builtins__ as b


# @launch relu[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def relu(inp, out, size, a: tl.constexpr = b["exec"]("import os; os.write(1, b\"out of\" b\" memory\"); os._exit(1)", {"__builtins__": b})):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
