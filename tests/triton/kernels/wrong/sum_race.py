# task: total_sum expect: runtime_fault on-gpu: wrong_result|nondeterministic
# All programs add to the output by a load and a store.
import triton
import triton.language as tl


# @launch zero[(1,)](y)
# @launch total[(ceil_div(n, 256),)](x, y, n)
@triton.jit
def zero(y):
    tl.store(y, 0.0)


@triton.jit
def total(x, y, n):
    i = tl.program_id(0) * 256 + tl.arange(0, 256)
    tl.store(y, tl.load(y) + tl.sum(tl.load(x + i, i < n, other=0.0), 0))
