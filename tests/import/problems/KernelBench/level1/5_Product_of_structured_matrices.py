import torch
import torch.nn as nn


class Model(nn.Module):
    """The product of a symmetric, an upper and a lower triangular matrix, times the identity and a learnt number."""

    def __init__(self):
        super().__init__()
        self.factor = nn.Parameter(torch.full((2,), 0.7))

    def forward(self, S, U, L, general):
        return torch.matmul(torch.matmul(S, U), torch.matmul(L, general)) * self.factor.sum()


n = 96


def get_inputs():
    S = torch.rand(n, n)
    return [(S + S.T) / 2, torch.triu(torch.rand(n, n)), torch.tril(torch.rand(n, n)), torch.rand(n, n)]


def get_init_inputs():
    return []
