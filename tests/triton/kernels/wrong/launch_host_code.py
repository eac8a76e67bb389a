# task: relu expect: launch_error|compile_error
# A launch by Python, as on a GPU.
import triton
import triton.language as tl


@triton.jit
def kernel(inp, out, size):
    i = tl.program_id(0) * 256 + tl.arange(0, 256)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)


def relu(inp, out, size):
    kernel[(triton.cdiv(size, 256),)](inp, out, size)
