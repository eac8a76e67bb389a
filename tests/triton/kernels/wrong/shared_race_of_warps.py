# task: row_argmax expect: runtime_fault|wrong_result
# Threads of four warps store different columns to one word of shared memory; one of them is right.
import triton
import triton.language as tl


# @launch argmax[(rows,)](x, y, cols, BLOCK=next_pow2(max(cols, 128)))
@triton.jit
def argmax(x, y, cols, BLOCK: tl.constexpr):
    c = tl.arange(0, BLOCK)
    v = tl.load(x + tl.program_id(0) * cols + c, c < cols, other=-float("inf"))
    hit = (v == tl.max(v, 0)) & (c < cols)
    found = tl.inline_asm_elementwise(
        "{ .reg .pred p; .shared .align 4 .b32 s; setp.ne.s32 p, $2, 0; @p st.shared.b32 [s], $1; bar.sync 0; "
        "ld.shared.b32 $0, [s]; bar.sync 0; }",
        "=r,r,r", [c, hit.to(tl.int32)], dtype=tl.int32, is_pure=False, pack=1)
    tl.store(y + tl.program_id(0), tl.max(tl.where(hit, found, 0), 0))
