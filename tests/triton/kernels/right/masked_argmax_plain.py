# task: masked_argmax expect: ok
# One row a program, in which what is not allowed is minus infinity.
import triton
import triton.language as tl


# @launch greatest[(rows,)](logits, mask, token, cols, BLOCK=next_pow2(cols), num_warps=8)
@triton.jit
def greatest(logits, mask, token, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    col = tl.arange(0, BLOCK)
    allowed = tl.load(mask + row * cols + col, mask=col < cols, other=0) != 0
    value = tl.load(logits + row * cols + col, mask=allowed, other=float("-inf"))
    some = tl.max(allowed.to(tl.int32), 0)
    tl.store(token + row, tl.where(some != 0, tl.argmax(value, 0), -1))
