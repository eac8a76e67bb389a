# task: relu expect: ok|compile_error
# A constant that is a call, which is left out.
import triton
import triton.language as tl

X = exec("raise SystemExit(5)")


# @launch relu[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
