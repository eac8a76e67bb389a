# task: relu expect: runtime_fault|wrong_result on-gpu: ok
# All threads store their own number to one word of shared memory, and each adds what it reads to nothing.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    s = tl.inline_asm_elementwise(
        "{ .shared .align 4 .b32 s; st.shared.b32 [s], $1; bar.sync 0; ld.shared.b32 $0, [s]; bar.sync 0; }",
        "=r,r", [i], dtype=tl.int32, is_pure=False, pack=1)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0) + tl.where(s < 0, 1.0, 0.0), i < size)
