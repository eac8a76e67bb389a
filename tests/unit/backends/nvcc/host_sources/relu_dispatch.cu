// relu
#include <torch/extension.h>

#include <c10/cuda/CUDAException.h>

template <typename scalar_t>
__global__ void relu_kernel(const scalar_t* __restrict__ input, scalar_t* __restrict__ output,
                            const int64_t size) {
  const int64_t stride = blockDim.x * gridDim.x;
  for (int64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += stride) {
    const scalar_t value = input[i];
    output[i] = value > static_cast<scalar_t>(0) ? value : static_cast<scalar_t>(0);
  }
}

torch::Tensor forward(torch::Tensor input) {
  auto output = torch::empty_like(input);
  const int threads = 256;
  const int blocks = std::min<int64_t>((input.numel() + threads - 1) / threads, 65535);
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(input.scalar_type(), "relu_kernel", ([&] {
    relu_kernel<scalar_t><<<blocks, threads>>>(
        input.data_ptr<scalar_t>(), output.data_ptr<scalar_t>(), input.numel());
  }));
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return output;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward, "ReLU forward (CUDA)"); }
