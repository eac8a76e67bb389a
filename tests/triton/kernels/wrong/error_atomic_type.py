# task: histogram expect: compile_error
# Line 10: there is no atomic addition of int8.
import triton
import triton.language as tl


# @launch count[(1,)](keys, counts, n)
@triton.jit
def count(keys, counts, n):
    tl.atomic_add(counts.to(tl.pointer_type(tl.int8)), tl.full((), 1, tl.int8))
