# task: relu expect: runtime_fault on-gpu: ok
# Loads in front of the input, where other tensors may be.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    a = tl.inline_asm_elementwise("ld.global.u32 $0, [$1 + -4096];", "=r,l", [(inp + i).to(tl.int64)], dtype=tl.int32, is_pure=False, pack=1)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0) + 0.0 * a, i < size)
