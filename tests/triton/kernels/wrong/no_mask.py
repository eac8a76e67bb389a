# task: vector_add expect: runtime_fault
# No masks: the last block reads and writes beyond the end.
import triton
import triton.language as tl


# @launch add[(ceil_div(n, 512),)](a, b, out)
@triton.jit
def add(a, b, out):
    i = tl.program_id(0) * 512 + tl.arange(0, 512)
    tl.store(out + i, tl.load(a + i) + tl.load(b + i))
