import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, dim):
        super(Model, self).__init__()
        self.dim = dim

    def forward(self, x):
        return torch.softmax(x, dim=self.dim)


batch_size = 64
features = 131072
dim = 1


def get_inputs():
    return [torch.rand(batch_size, features)]


def get_init_inputs():
    return [dim]
