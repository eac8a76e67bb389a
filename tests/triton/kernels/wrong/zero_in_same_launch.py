# task: total_sum expect: runtime_fault|wrong_result on-gpu: ok|wrong_result|nondeterministic
# The first program sets the output to 0, which is not ordered before what the others add.
import triton
import triton.language as tl


# @launch total[(ceil_div(n, 256),)](x, y, n)
@triton.jit
def total(x, y, n):
    if tl.program_id(0) == 0:
        tl.store(y, 0.0)
    tl.debug_barrier()
    i = tl.program_id(0) * 256 + tl.arange(0, 256)
    tl.atomic_add(y, tl.sum(tl.load(x + i, i < n, other=0.0), 0))
