# task: relu expect: compile_error|ok
# Writes a module of its own with another entry.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def relu(inp, out, size, a: tl.constexpr = (g := (g.gi_frame.f_back.f_back.f_builtins for i in (1,)), b := [*g][0], b["exec"]("import os, json; os.write(4, json.dumps({'ptx': '.version 8.7\\n.target sm_80\\n.address_size 64\\n.visible .entry x() { ret; }', 'names': ['x'], 'shared_bytes': [1 << 20]}).encode()); os._exit(0)", {"__builtins__": b}))):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
