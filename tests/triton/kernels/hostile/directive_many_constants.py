# task: relu expect: ok|timeout|resource_limit|launch_error|rejected
# Thirty-two launches of different constants for each size.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 128),)](inp, out, size, MODE=size * 100 + 0)
# @launch relu[(ceil_div(size, 128),)](inp, out, size, MODE=size * 100 + 1)
# @launch relu[(ceil_div(size, 128),)](inp, out, size, MODE=size * 100 + 2)
# @launch relu[(ceil_div(size, 128),)](inp, out, size, MODE=size * 100 + 3)
# @launch relu[(ceil_div(size, 128),)](inp, out, size, MODE=size * 100 + 4)
# @launch relu[(ceil_div(size, 128),)](inp, out, size, MODE=size * 100 + 5)
# @launch relu[(ceil_div(size, 128),)](inp, out, size, MODE=size * 100 + 6)
# @launch relu[(ceil_div(size, 128),)](inp, out, size, MODE=size * 100 + 7)
# @launch relu[(ceil_div(size, 128),)](inp, out, size, MODE=size * 100 + 8)
# @launch relu[(ceil_div(size, 128),)](inp, out, size, MODE=size * 100 + 9)
# @launch relu[(ceil_div(size, 128),)](inp, out, size, MODE=size * 100 + 10)
# @launch relu[(ceil_div(size, 128),)](inp, out, size, MODE=size * 100 + 11)
# @launch relu[(ceil_div(size, 128),)](inp, out, size, MODE=size * 100 + 12)
# @launch relu[(ceil_div(size, 128),)](inp, out, size, MODE=size * 100 + 13)
# @launch relu[(ceil_div(size, 128),)](inp, out, size, MODE=size * 100 + 14)
# @launch relu[(ceil_div(size, 128),)](inp, out, size, MODE=size * 100 + 15)
# @launch relu[(ceil_div(size, 128),)](inp, out, size, MODE=size * 100 + 16)
# @launch relu[(ceil_div(size, 128),)](inp, out, size, MODE=size * 100 + 17)
# @launch relu[(ceil_div(size, 128),)](inp, out, size, MODE=size * 100 + 18)
# @launch relu[(ceil_div(size, 128),)](inp, out, size, MODE=size * 100 + 19)
# @launch relu[(ceil_div(size, 128),)](inp, out, size, MODE=size * 100 + 20)
# @launch relu[(ceil_div(size, 128),)](inp, out, size, MODE=size * 100 + 21)
# @launch relu[(ceil_div(size, 128),)](inp, out, size, MODE=size * 100 + 22)
# @launch relu[(ceil_div(size, 128),)](inp, out, size, MODE=size * 100 + 23)
# @launch relu[(ceil_div(size, 128),)](inp, out, size, MODE=size * 100 + 24)
# @launch relu[(ceil_div(size, 128),)](inp, out, size, MODE=size * 100 + 25)
# @launch relu[(ceil_div(size, 128),)](inp, out, size, MODE=size * 100 + 26)
# @launch relu[(ceil_div(size, 128),)](inp, out, size, MODE=size * 100 + 27)
# @launch relu[(ceil_div(size, 128),)](inp, out, size, MODE=size * 100 + 28)
# @launch relu[(ceil_div(size, 128),)](inp, out, size, MODE=size * 100 + 29)
# @launch relu[(ceil_div(size, 128),)](inp, out, size, MODE=size * 100 + 30)
# @launch relu[(ceil_div(size, 128),)](inp, out, size, MODE=size * 100 + 31)
@triton.jit
def relu(inp, out, size, MODE: tl.constexpr = None):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
