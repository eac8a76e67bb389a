# task: masked_argmax expect: wrong_result
# A row whose mask is all 0 gives 0 instead of -1.
import triton
import triton.language as tl


# @launch argmax[(rows,)](logits, mask, token, cols, BLOCK=next_pow2(cols))
@triton.jit
def argmax(logits, mask, token, cols, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = tl.program_id(0) * cols + i
    m = tl.load(mask + at, i < cols, other=0) != 0
    v = tl.where(m, tl.load(logits + at, i < cols, other=0.0), -float("inf"))
    tl.store(token + tl.program_id(0), tl.argmax(v, 0))
