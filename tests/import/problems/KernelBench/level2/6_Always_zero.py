import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, in_features, out_features):
        super(Model, self).__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        largest = torch.max(self.linear(x), dim=1, keepdim=True).values
        return largest - largest.mean(dim=1, keepdim=True)


batch_size = 64
in_features = 100
out_features = 50


def get_inputs():
    return [torch.rand(batch_size, in_features)]


def get_init_inputs():
    return [in_features, out_features]
