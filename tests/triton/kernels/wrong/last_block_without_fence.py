# task: total_sum expect: runtime_fault|wrong_result on-gpu: ok|wrong_result|nondeterministic
# The last program adds what the others stored, but its counter orders nothing.
import triton
import triton.language as tl


# @scratch partial float32[ceil_div(n, 256)]
# @scratch done int32[1]
# @launch zero[(1,)](done)
# @launch total[(ceil_div(n, 256),)](x, y, partial, done, n)
@triton.jit
def zero(done):
    tl.store(done, 0)


@triton.jit
def total(x, y, partial, done, n):
    i = tl.program_id(0) * 256 + tl.arange(0, 256)
    tl.store(partial + tl.program_id(0), tl.sum(tl.load(x + i, i < n, other=0.0), 0))
    blocks = tl.num_programs(0)
    if tl.atomic_add(done, 1, sem="relaxed") == blocks - 1:
        v = tl.zeros((128,), tl.float32)
        for start in range(0, blocks, 128):
            j = start + tl.arange(0, 128)
            v += tl.load(partial + j, j < blocks, other=0.0)
        tl.store(y, tl.sum(v, 0))
