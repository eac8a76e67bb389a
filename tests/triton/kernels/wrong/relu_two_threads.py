# task: relu expect: runtime_fault|wrong_result|nondeterministic on-gpu: ok|runtime_fault|wrong_result|nondeterministic
# Two threads of a program store different values to one element, and the second is hoped to win.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    t = tl.arange(0, 256)
    i = tl.program_id(0) * 128 + t // 2
    value = tl.maximum(tl.load(inp + i, i < size), 0.0)
    tl.store(out + i, tl.where(t % 2 == 1, value, 123.0), i < size)
