# task: abs_diff expect: ok
# Two blocks a program, whose loads are all issued before the first store.
import triton
import triton.language as tl


# @launch difference[(ceil_div(len, 2 * BLOCK),)](lhs, rhs, z, len, BLOCK=512)
@triton.jit
def difference(lhs, rhs, z, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * (2 * BLOCK) + tl.arange(0, BLOCK)
    near = at < n
    far = at + BLOCK < n
    lhs_near = tl.load(lhs + at, mask=near, other=0.0)
    rhs_near = tl.load(rhs + at, mask=near, other=0.0)
    lhs_far = tl.load(lhs + at + BLOCK, mask=far, other=0.0)
    rhs_far = tl.load(rhs + at + BLOCK, mask=far, other=0.0)
    tl.store(z + at, tl.abs(lhs_near - rhs_near), mask=near)
    tl.store(z + at + BLOCK, tl.abs(lhs_far - rhs_far), mask=far)
