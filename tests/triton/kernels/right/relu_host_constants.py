# task: relu expect: ok
# Constants, imports and annotations of host code are nobody's business.
import torch
import triton
import triton.language as tl
import torch.nn.functional as F

DTYPE = torch.float16
act = F.relu
__all__ = ["relu"]
BLOCK: tl.constexpr = tl.constexpr(1 << 7)
SMALL = 2 ** 3

# @launch relu[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def relu(inp, out, size) -> None:
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(inp + i, i < size)
    tl.store(out + i, tl.maximum(x, 0.0), i < size)


def call(x):
    return relu[(4,)](x, x, 4)


if __name__ == "__main__":
    import triton
    import triton.testing
    print(triton.testing)
