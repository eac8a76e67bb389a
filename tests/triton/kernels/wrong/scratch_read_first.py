# task: dot expect: runtime_fault on-gpu: wrong_result
# The launch that reads the partial sums comes before the one that writes them.
import triton
import triton.language as tl


# @scratch partial float32[ceil_div(len, 256)]
# @launch finish[(1,)](partial, out, ceil_div(len, 256))
# @launch start[(ceil_div(len, 256),)](p, q, partial, len)
@triton.jit
def start(p, q, partial, len):
    i = tl.program_id(0) * 256 + tl.arange(0, 256)
    v = tl.load(p + i, i < len, other=0.0) * tl.load(q + i, i < len, other=0.0)
    tl.store(partial + tl.program_id(0), tl.sum(v, 0))


@triton.jit
def finish(partial, out, blocks):
    total = tl.zeros((128,), tl.float32)
    for start in range(0, blocks, 128):
        i = start + tl.arange(0, 128)
        total += tl.load(partial + i, i < blocks, other=0.0)
    tl.store(out, tl.sum(total, 0))
