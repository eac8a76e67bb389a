# task: vector_add expect: wrong_result
# The grid is rounded down: the tail is never computed.
import triton
import triton.language as tl


# @launch add[(max(n / 128, 1),)](a, b, out, n)
@triton.jit
def add(a, b, out, n):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.load(a + i, i < n) + tl.load(b + i, i < n), i < n)
