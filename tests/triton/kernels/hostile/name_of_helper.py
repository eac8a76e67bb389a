# task: relu expect: ok
# A helper that is not inlined has the name of an opcode.
import triton
import triton.language as tl


@triton.jit(noinline=True)
def add(v):
    return v + 1.0


@triton.jit(noinline=True)
def b32(v):
    return add(v) - 1.0


# @launch relu[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size) + 0.0 * b32(tl.load(inp)), 0.0), i < size)
