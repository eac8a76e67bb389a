# task: relu expect: runtime_fault|wrong_result
# Claims that 4 elements of the mask are the same, so that one decides for all.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 512),)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    i = tl.program_id(0) * 512 + tl.arange(0, 512)
    inside = tl.max_constancy(i < size, 4)
    tl.store(out + i, tl.maximum(tl.load(inp + i, inside), 0.0), inside)
