import torch
import torch.nn as nn


class Model(nn.Module):
    """A linear layer, scaled."""

    def __init__(self, inputs, outputs, scale):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)
        self.scale = scale

    def forward(self, x):
        return self.linear(x) * self.scale


batch = 128
inputs = 512
outputs = 256
scale = 2.0


def get_inputs():
    return [torch.randn(batch, inputs)]


def get_init_inputs():
    return [inputs, outputs, scale]
