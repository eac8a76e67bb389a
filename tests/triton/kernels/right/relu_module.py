# task: relu expect: ok
# A kernel amid the host code of a whole module, which is not executed.
import torch
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, BLOCK),)](inp, out, size, BLOCK=256)
@triton.jit
def relu(inp, out, size, BLOCK: tl.constexpr):
    """The greater of each element and zero."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.maximum(tl.load(inp + at, mask=at < size, other=0.0), 0.0), mask=at < size)


class Relu(torch.nn.Module):
    def forward(self, inp):
        out = torch.empty_like(inp)
        relu[(triton.cdiv(inp.numel(), 256),)](inp, out, inp.numel(), BLOCK=256)
        return out


if __name__ == "__main__":
    print(Relu()(torch.randn(5, device="cuda")))
