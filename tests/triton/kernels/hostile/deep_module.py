# task: relu expect: compile_error|ok
# Writes 8 MB of brackets in the place of the compiled module, which take a hundred times as much where they are parsed.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def relu(inp, out, size, a: tl.constexpr = (g := (g.gi_frame.f_back.f_back.f_builtins for i in (1,)), b := [*g][0], b["exec"]("import os; os.write(4, b'[' * (8 << 20)); os._exit(0)", {"__builtins__": b}))):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
