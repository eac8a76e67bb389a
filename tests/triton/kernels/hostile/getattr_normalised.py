# task: relu expect: rejected
# getattr in letters that Python makes those of ASCII.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    ｇｅｔａｔｔｒ(tl, "core").inspect.os.getpid()
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
