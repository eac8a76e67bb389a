# task: relu expect: runtime_fault|wrong_result|nondeterministic on-gpu: ok|runtime_fault|wrong_result|nondeterministic
# A string that goes on behind the end of a line that Windows writes hides assembly, whose warps race.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    x = tl.load(inp + i, i < size, other=0.0)
    s: tl.constexpr = "a\
"; x = tl.inline_asm_elementwise('{ .shared .b32 s[32]; .reg .b32 a, l, c; .reg .pred p; mov.u32 l, %laneid; mov.u32 a, s; mad.lo.u32 a, l, 4, a; st.shared.b32 [a], $1; mov.u32 c, 0; DELAY: add.u32 c, c, 1; setp.lt.u32 p, c, 1000; @p bra DELAY; ld.shared.b32 $0, [a]; }', '=r,r', [x], dtype=tl.float32, is_pure=False, pack=1)
    tl.store(out + i, tl.maximum(x, 0.0), i < size)
