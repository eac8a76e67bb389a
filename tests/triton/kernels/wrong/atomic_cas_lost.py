# task: histogram expect: wrong_result|runtime_fault
# Tries to increment by compare and swap only once.
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
    for j in range(128):
        i = tl.program_id(0) * 128 + j
        if i < n:
            at = counts + tl.load(keys + i)
            old = tl.load(at)
            tl.atomic_cas(at, old, old + 1)
