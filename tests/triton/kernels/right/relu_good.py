# task: relu expect: ok
# A tile of rows of 128 elements a program, four of 16 bytes in each thread.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, ROWS * LANES),)](inp, out, size, ROWS=16, LANES=128)
@triton.jit
def relu(inp, out, size, ROWS: tl.constexpr, LANES: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    at = row[:, None] * LANES + tl.arange(0, LANES)[None, :]
    inside = at < size
    tl.store(out + at, tl.maximum(tl.load(inp + at, mask=inside, other=0.0), 0.0), mask=inside)
