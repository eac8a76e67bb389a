# task: relu expect: runtime_fault|wrong_result
# Hopes that the output holds what another run left.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.load(out + i, i < size), i < size)
