# task: expert_scale expect: ok
# One token a program; its expert is the place of the one in its route.
import triton
import triton.language as tl


# @launch scale[(tokens,)](x, route, w, y, dim, experts, EXPERTS=next_pow2(experts), BLOCK=256)
@triton.jit
def scale(x, route, w, y, dim, experts, EXPERTS: tl.constexpr, BLOCK: tl.constexpr):
    token = tl.program_id(0)
    place = tl.arange(0, EXPERTS)
    expert = tl.argmax(tl.load(route + token * experts + place, mask=place < experts, other=0.0), 0)
    for first in range(0, dim, BLOCK):
        col = first + tl.arange(0, BLOCK)
        factor = 1.0 + tl.load(w + expert * dim + col, mask=col < dim)
        tl.store(y + token * dim + col, tl.load(x + token * dim + col, mask=col < dim) * factor, mask=col < dim)
