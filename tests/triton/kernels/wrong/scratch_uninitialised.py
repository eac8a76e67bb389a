# task: dot expect: runtime_fault on-gpu: wrong_result
# Accumulates into scratch memory that nobody has set to 0.
import triton
import triton.language as tl


# @scratch total float32[1]
# @launch start[(ceil_div(len, 256),)](p, q, total, len)
# @launch finish[(1,)](total, out)
@triton.jit
def start(p, q, total, len):
    i = tl.program_id(0) * 256 + tl.arange(0, 256)
    v = tl.load(p + i, i < len, other=0.0) * tl.load(q + i, i < len, other=0.0)
    tl.atomic_add(total, tl.sum(v, 0))


@triton.jit
def finish(total, out):
    tl.store(out, tl.load(total))
