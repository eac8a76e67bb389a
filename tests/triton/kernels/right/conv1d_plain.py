# task: conv1d expect: ok
# One block a program, with a load for every tap.
import triton
import triton.language as tl


# @launch convolve[(ceil_div(valid, BLOCK),)](x, w, y, valid, taps, BLOCK=256)
@triton.jit
def convolve(x, w, y, valid, taps, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for tap in range(taps):
        total += tl.load(x + at + tap, mask=at < valid, other=0.0) * tl.load(w + tap)
    tl.store(y + at, total, mask=at < valid)
