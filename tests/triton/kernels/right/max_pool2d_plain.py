# task: max_pool2d expect: ok
# One row of outputs a program, over nine loads.
import triton
import triton.language as tl


# @launch pool[(planes * high,)](x, y, height, width, high, wide, WIDE=next_pow2(wide))
@triton.jit
def pool(x, y, height, width, high, wide, WIDE: tl.constexpr):
    plane = tl.program_id(0) // high
    i = tl.program_id(0) % high
    j = tl.arange(0, WIDE)
    top = tl.full((WIDE,), float("-inf"), tl.float32)
    for u in tl.static_range(3):
        for v in tl.static_range(3):
            r = 2 * i + u - 1
            s = 2 * j + v - 1
            inside = (r >= 0) & (r < height) & (s >= 0) & (s < width)
            top = tl.maximum(top, tl.load(x + (plane * height + r) * width + s, mask=inside, other=float("-inf")))
    tl.store(y + tl.program_id(0) * wide + j, top, mask=j < wide)
