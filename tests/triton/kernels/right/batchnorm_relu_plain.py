# task: batchnorm_relu expect: ok
# One channel of one sample a program, in blocks.
import triton
import triton.language as tl


# @launch normalise[(batch * channels,)](x, mean, var, gamma, beta, y, channels, len, BLOCK=128)
@triton.jit
def normalise(x, mean, var, gamma, beta, y, channels, length, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    channel = row % channels
    factor = tl.load(gamma + channel) / tl.sqrt(tl.load(var + channel) + 1e-5)
    for first in range(0, length, BLOCK):
        i = first + tl.arange(0, BLOCK)
        value = tl.load(x + row * length + i, mask=i < length) - tl.load(mean + channel)
        tl.store(y + row * length + i, tl.maximum(value * factor + tl.load(beta + channel), 0.0), mask=i < length)
