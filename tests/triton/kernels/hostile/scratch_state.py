# task: relu expect: runtime_fault|wrong_result on-gpu: ok|wrong_result
# Counts its runs in scratch memory, to be right only at first.
import triton
import triton.language as tl


# @scratch runs int32[1]
# @launch relu[(ceil_div(size, 128),)](inp, out, size, runs)
@triton.jit
def relu(inp, out, size, runs):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), tl.load(runs) * 0.0), i < size)
