# task: relu expect: rejected|compile_error|wrong_result
# Begins a comment that does not end.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    a = tl.inline_asm_elementwise("mov.u32 $0, $1; /*", "=r,r", [tl.load(inp + i, i < size).to(tl.int32, bitcast=True)], dtype=tl.int32, is_pure=False, pack=1)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0) + 0.0 * a, i < size)
