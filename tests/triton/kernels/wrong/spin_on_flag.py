# task: prefix_sum expect: timeout|runtime_fault|wrong_result
# Each program waits for the one before it by a plain load that is never ordered.
import triton
import triton.language as tl


# @scratch carry float32[ceil_div(n, 256)]
# @scratch flag int32[ceil_div(n, 256)]
# @launch zero[(ceil_div(n, 256),)](flag)
# @launch scan[(ceil_div(n, 256),)](x, y, carry, flag, n)
@triton.jit
def zero(flag):
    tl.store(flag + tl.program_id(0), 0)


@triton.jit
def scan(x, y, carry, flag, n):
    b = tl.program_id(0)
    i = b * 256 + tl.arange(0, 256)
    v = tl.load(x + i, i < n, other=0.0)
    before = 0.0
    if b > 0:
        while tl.load(flag + b - 1) == 0:
            pass
        before = tl.load(carry + b - 1)
    tl.store(carry + b, before + tl.sum(v, 0))
    tl.store(flag + b, 1)
    tl.store(y + i, before + tl.cumsum(v, 0), i < n)
