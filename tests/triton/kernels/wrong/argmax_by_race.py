# task: row_argmax expect: runtime_fault|wrong_result
# Lanes of a warp store different columns to one word of shared memory, and the last lane is hoped to win.
import triton
import triton.language as tl


# @launch argmax[(rows,)](x, y, cols, num_warps=1)
@triton.jit
def argmax(x, y, cols):
    lane = 31 - tl.arange(0, 32)
    at = x + tl.program_id(0) * cols
    best = tl.full((32,), -float("inf"), tl.float32)
    for start in range(0, cols, 32):
        c = start + lane
        best = tl.maximum(best, tl.load(at + c, c < cols, other=-float("inf")))
    most = tl.max(best, 0)
    found = tl.full((32,), -1, tl.int32)
    last = (cols - 1) // 32
    for step in range(0, last + 1):
        c = (last - step) * 32 + lane
        hit = (tl.load(at + c, c < cols, other=-float("inf")) == most) & (c < cols)
        found = tl.inline_asm_elementwise(
            "{ .reg .pred p, f; .shared .align 4 .b32 s; setp.ne.s32 f, $3, 0; @f st.shared.b32 [s], -1; bar.sync 0; "
            "setp.ne.s32 p, $2, 0; @p st.shared.b32 [s], $1; bar.sync 0; ld.shared.b32 $0, [s]; bar.sync 0; }",
            "=r,r,r,r", [c, hit.to(tl.int32), (found * 0 + (step == 0)).to(tl.int32)], dtype=tl.int32, is_pure=False, pack=1)
    tl.store(y + tl.program_id(0), tl.max(found, 0))
