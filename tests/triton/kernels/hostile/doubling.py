# task: relu expect: timeout|resource_limit|compile_error
# Each of 26 functions calls the one before twice: 2^25 copies when they are inlined.
import triton
import triton.language as tl


@triton.jit
def f0(v):
    return v * v + 1.0


@triton.jit
def f1(v):
    return f0(v) * f0(v + 1.0)


@triton.jit
def f2(v):
    return f1(v) * f1(v + 1.0)


@triton.jit
def f3(v):
    return f2(v) * f2(v + 1.0)


@triton.jit
def f4(v):
    return f3(v) * f3(v + 1.0)


@triton.jit
def f5(v):
    return f4(v) * f4(v + 1.0)


@triton.jit
def f6(v):
    return f5(v) * f5(v + 1.0)


@triton.jit
def f7(v):
    return f6(v) * f6(v + 1.0)


@triton.jit
def f8(v):
    return f7(v) * f7(v + 1.0)


@triton.jit
def f9(v):
    return f8(v) * f8(v + 1.0)


@triton.jit
def f10(v):
    return f9(v) * f9(v + 1.0)


@triton.jit
def f11(v):
    return f10(v) * f10(v + 1.0)


@triton.jit
def f12(v):
    return f11(v) * f11(v + 1.0)


@triton.jit
def f13(v):
    return f12(v) * f12(v + 1.0)


@triton.jit
def f14(v):
    return f13(v) * f13(v + 1.0)


@triton.jit
def f15(v):
    return f14(v) * f14(v + 1.0)


@triton.jit
def f16(v):
    return f15(v) * f15(v + 1.0)


@triton.jit
def f17(v):
    return f16(v) * f16(v + 1.0)


@triton.jit
def f18(v):
    return f17(v) * f17(v + 1.0)


@triton.jit
def f19(v):
    return f18(v) * f18(v + 1.0)


@triton.jit
def f20(v):
    return f19(v) * f19(v + 1.0)


@triton.jit
def f21(v):
    return f20(v) * f20(v + 1.0)


@triton.jit
def f22(v):
    return f21(v) * f21(v + 1.0)


@triton.jit
def f23(v):
    return f22(v) * f22(v + 1.0)


@triton.jit
def f24(v):
    return f23(v) * f23(v + 1.0)


@triton.jit
def f25(v):
    return f24(v) * f24(v + 1.0)


# @launch relu[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, f25(tl.load(inp + i, i < size)), i < size)
