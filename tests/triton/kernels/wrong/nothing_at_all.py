# task: vector_add expect: wrong_result|runtime_fault
# The kernel returns before it stores.
import triton
import triton.language as tl


# @launch add[(ceil_div(n, 256),)](a, b, out, n)
@triton.jit
def add(a, b, out, n):
    i = tl.program_id(0) * 256 + tl.arange(0, 256)
    if n < 0:
        tl.store(out + i, tl.load(a + i, i < n) + tl.load(b + i, i < n), i < n)
