// layernorm_rows
#include <torch/extension.h>
#include <ATen/AccumulateType.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <typename acc_t>
__device__ acc_t block_sum(acc_t value, acc_t* memory) {
  __syncthreads();
  memory[threadIdx.x] = value;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) memory[threadIdx.x] += memory[threadIdx.x + half];
    __syncthreads();
  }
  return memory[0];
}

template <typename scalar_t, typename acc_t>
__global__ void layernorm_kernel(const scalar_t* __restrict__ x, const scalar_t* __restrict__ gamma,
                                 const scalar_t* __restrict__ beta, scalar_t* __restrict__ y,
                                 int cols, acc_t eps) {
  extern __shared__ unsigned char memory[];
  acc_t* sums = reinterpret_cast<acc_t*>(memory);
  const size_t base = static_cast<size_t>(blockIdx.x) * cols;
  acc_t sum = 0, square = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += static_cast<acc_t>(x[base + c]);
  const acc_t mean = block_sum(sum, sums) / cols;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    const acc_t value = static_cast<acc_t>(x[base + c]) - mean;
    square += value * value;
  }
  const acc_t scale = acc_t(1) / sqrt(block_sum(square, sums) / cols + eps);
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    const acc_t value = (static_cast<acc_t>(x[base + c]) - mean) * scale;
    y[base + c] = static_cast<scalar_t>(value * static_cast<acc_t>(gamma[c]) +
                                        static_cast<acc_t>(beta[c]));
  }
}

torch::Tensor forward(torch::Tensor x, torch::Tensor gamma, torch::Tensor beta) {
  auto y = torch::empty_like(x);
  const int cols = x.size(-1);
  const int rows = x.numel() / cols;
  const int threads = 256;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::ScalarType::Half, at::ScalarType::BFloat16, x.scalar_type(),
                                  "layernorm", [&] {
    using acc_t = at::acc_type<scalar_t, true>;
    layernorm_kernel<scalar_t, acc_t><<<rows, threads, threads * sizeof(acc_t)>>>(
        x.data_ptr<scalar_t>(), gamma.data_ptr<scalar_t>(), beta.data_ptr<scalar_t>(),
        y.data_ptr<scalar_t>(), cols, acc_t(1e-5));
  });
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward, "layer norm"); }
