# task: relu expect: ok
# One block of elements a program.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, BLOCK),)](inp, out, size, BLOCK=256)
@triton.jit
def relu(inp, out, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < size
    value = tl.load(inp + at, mask=inside)
    tl.store(out + at, tl.where(value > 0, value, 0.0), mask=inside)
