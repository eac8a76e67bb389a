# task: relu expect: runtime_fault
# The load is masked rightly, the store writes one element behind the output.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size + 1, 256),)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    i = tl.program_id(0) * 256 + tl.arange(0, 256)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size, other=0.0), 0.0), i <= size)
