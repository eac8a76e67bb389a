# task: total_sum expect: ok
# Blocks read through a block pointer, whose bounds Triton checks, and one atomic addition each.
import triton
import triton.language as tl


# @launch clear[(1,)](y)
@triton.jit
def clear(y):
    tl.store(y, 0.0)


# @launch add_up[(ceil_div(n, BLOCK),)](x, y, n, BLOCK=2048)
@triton.jit
def add_up(x, y, n, BLOCK: tl.constexpr):
    block = tl.make_block_ptr(base=x, shape=(n,), strides=(1,), offsets=(tl.program_id(0) * BLOCK,),
                              block_shape=(BLOCK,), order=(0,))
    value = tl.load(block, boundary_check=(0,), padding_option="zero")
    tl.atomic_add(y, tl.sum(value, axis=0))
