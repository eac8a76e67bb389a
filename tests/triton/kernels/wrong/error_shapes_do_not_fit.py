# task: vector_add expect: compile_error
# Line 11: 128 and 256 elements are added.
import triton
import triton.language as tl


# @launch add[(1,)](a, b, out)
@triton.jit
def add(a, b, out):
    i = tl.arange(0, 128)
    v = tl.load(a + i) + tl.load(b + tl.arange(0, 256))
    tl.store(out + i, v)
