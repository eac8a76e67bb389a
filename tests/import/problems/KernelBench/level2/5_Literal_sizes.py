import torch
import torch.nn as nn


class Model(nn.Module):
    """Causal weights over the rows, from a mask that the module holds."""

    def __init__(self, longest):
        super(Model, self).__init__()
        self.register_buffer("mask", torch.tril(torch.ones(longest, longest)))

    def forward(self, x):
        rows = x.shape[1]
        scores = (x @ x.transpose(1, 2)).masked_fill(self.mask[:rows, :rows] == 0, float("-inf"))
        return torch.softmax(scores, dim=-1) @ x


def get_inputs():
    return [torch.rand(4, 96, 32)]


def get_init_inputs():
    return [200]
