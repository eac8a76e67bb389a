# task: relu expect: wrong_result
# The grid is right for the shown sizes only.
import triton
import triton.language as tl


# @launch relu[(17,)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    i = tl.program_id(0) * 1024 + tl.arange(0, 1024)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
