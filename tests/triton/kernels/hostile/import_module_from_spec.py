# task: relu expect: compile_error|ok
# A function of importlib's is a name in triton.language.extra.
import triton
import triton.language as tl
from triton.language.extra import module_from_spec, spec


# @launch relu[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def relu(inp, out, size, a: tl.constexpr = module_from_spec(spec).wraps):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
