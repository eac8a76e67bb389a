# wrong: the bias is not scaled
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = """
#include <torch/extension.h>
__global__ void linear_scaled(const float* x, const float* w, const float* b, float* y, int n, int k, float scale) {
  int row = blockIdx.y, column = blockIdx.x * 128 + threadIdx.x;
  if (column >= n) return;
  float sum = 0;
  for (int i = 0; i < k; i++) sum += x[(size_t)row * k + i] * w[(size_t)column * k + i];
  y[(size_t)row * n + column] = sum * scale + b[column];
}

torch::Tensor scaled(torch::Tensor x, torch::Tensor w, torch::Tensor b, double scale) {
  const int m = x.size(0), n = w.size(0), k = x.size(1);
  auto y = torch::empty({m, n}, x.options());
  linear_scaled<<<dim3((n + 127) / 128, m), 128>>>(x.data_ptr<float>(), w.data_ptr<float>(), b.data_ptr<float>(),
                                                   y.data_ptr<float>(), n, k, scale);
  return y;
}
"""

linear = load_inline(
    name="level_9_problem_2_sample_1",
    cpp_sources="torch::Tensor scaled(torch::Tensor x, torch::Tensor w, torch::Tensor b, double scale);",
    cuda_sources=source, functions=["scaled"])


class ModelNew(nn.Module):
    def __init__(self, inputs, outputs, scale):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)
        self.scale = scale

    def forward(self, x):
        return linear.scaled(x, self.linear.weight, self.linear.bias, self.scale)
