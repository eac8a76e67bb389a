# task: relu expect: compile_error|ok
# Ends the compile with a code of its own, as if the machine had failed. Nothing that a candidate does may count as that.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def relu(inp, out, size, a: tl.constexpr = (g := (g.gi_frame.f_back.f_back.f_builtins for i in (1,)), b := [*g][0], b["exec"]("import os; os._exit(5)", {"__builtins__": b}))):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
