# task: stencil_1d expect: runtime_fault on-gpu: runtime_fault|wrong_result|nondeterministic
# The left neighbour of the first element is read from in front of the buffer.
import triton
import triton.language as tl


# @launch stencil[(ceil_div(n, 256),)](x, y, n)
@triton.jit
def stencil(x, y, n):
    i = tl.program_id(0) * 256 + tl.arange(0, 256)
    left = tl.load(x + i - 1, i < n, other=0.0)
    right = tl.load(x + i + 1, i + 1 < n, other=0.0)
    tl.store(y + i, (left + tl.load(x + i, i < n, other=0.0) + right) / 3.0, i < n)
