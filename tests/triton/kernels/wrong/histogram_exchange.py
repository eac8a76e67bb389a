# task: histogram expect: wrong_result
# The atomic is a maximum instead of an addition.
import triton
import triton.language as tl


# @launch zero[(1,)](counts)
# @launch count[(ceil_div(n, 128),)](keys, counts, n)
@triton.jit
def zero(counts):
    i = tl.arange(0, 64)
    tl.store(counts + i, tl.zeros((64,), tl.int32), i < 48)


@triton.jit
def count(keys, counts, n):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.atomic_max(counts + tl.load(keys + i, i < n, other=0), tl.full((128,), 1, tl.int32), i < n)
