# task: relu expect: compile_error
# The text of a function tells where it is in memory, which differs from process to process.
import triton
import triton.language as tl
X = tl.constexpr("%s" % tl.load)
# @launch relu[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    v = tl.load(inp + i, i < size)
    if int(X[24], 16) % 2 == 0:
        v = tl.maximum(v, 0.0)
    tl.store(out + i, v, i < size)
