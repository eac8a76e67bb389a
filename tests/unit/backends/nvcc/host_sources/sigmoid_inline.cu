// sigmoid
#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void sigmoid_kernel(const float* x, float* out, int size) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx < size) {
    out[idx] = 1.0f / (1.0f + expf(-x[idx]));
  }
}

torch::Tensor forward(torch::Tensor x) {
  auto size = x.numel();
  auto out = torch::zeros_like(x);

  const int block_size = 256;
  const int num_blocks = (size + block_size - 1) / block_size;

  sigmoid_kernel<<<num_blocks, block_size>>>(x.data_ptr<float>(), out.data_ptr<float>(), size);

  return out;
}
