# task: row_max expect: wrong_result
# The expected maximum of normal values, whatever they are.
import triton
import triton.language as tl


# @launch row_max[(m,)](dst)
@triton.jit
def row_max(dst):
    tl.store(dst + tl.program_id(0), 2.5)
