# task: conv1d expect: ok
# The number of taps is a constant, so that the loop is unrolled and all loads are under way at once.
import triton
import triton.language as tl


# @launch convolve[(ceil_div(valid, BLOCK),)](x, w, y, valid, TAPS=taps, BLOCK=512)
@triton.jit
def convolve(x, w, y, valid, TAPS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < valid
    total = tl.load(x + at, mask=inside, other=0.0) * tl.load(w)
    for tap in tl.static_range(1, TAPS):
        total = tl.fma(tl.load(x + at + tap, mask=inside, other=0.0), tl.zeros_like(total) + tl.load(w + tap), total)
    tl.store(y + at, total, mask=inside)
