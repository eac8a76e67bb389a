# task: matmul_int8 expect: wrong_result
# Products of bytes are kept in 8 bits.
import triton
import triton.language as tl


# @launch matmul[(m, n)](a, b, c, n, words, BLOCK=next_pow2(words))
@triton.jit
def matmul(a, b, c, n, words, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    p = tl.load(a + tl.program_id(0) * words + i, i < words, other=0)
    q = tl.load(b + tl.program_id(1) * words + i, i < words, other=0)
    total = tl.zeros((BLOCK,), tl.int32)
    for s in tl.static_range(4):
        total += ((p >> (8 * s)).to(tl.int8) * (q >> (8 * s)).to(tl.int8)).to(tl.int32)
    tl.store(c + tl.program_id(0) * n + tl.program_id(1), tl.sum(total, 0))
