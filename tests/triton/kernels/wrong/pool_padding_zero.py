# task: max_pool2d expect: wrong_result
# The padding counts as 0.
import triton
import triton.language as tl


# @launch pool[(planes, high)](x, y, height, width, high, wide, BLOCK=next_pow2(wide))
@triton.jit
def pool(x, y, height, width, high, wide, BLOCK: tl.constexpr):
    plane = tl.program_id(0)
    i = tl.program_id(1)
    j = tl.arange(0, BLOCK)
    best = tl.full((BLOCK,), -float("inf"), tl.float32)
    for dr in tl.static_range(-1, 2):
        for ds in tl.static_range(-1, 2):
            r = 2 * i + dr
            s = 2 * j + ds
            inside = (r >= 0) & (r < height) & (s >= 0) & (s < width)
            best = tl.maximum(best, tl.load(x + (plane * height + r) * width + s, inside, other=0.0))
    tl.store(y + (plane * high + i) * wide + j, best, j < wide)
