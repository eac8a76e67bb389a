// Small arrays from the host to the GPU.
#pragma once

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include <vector>

#include "plugins/policies/libtorch/torch.hpp"

namespace krl::libtorch {

// Copies `values` to `to` on torch's current stream. They may change as soon as this returns: CUDA
// stages copies from pageable memory (CUDA Runtime API, "API synchronization behavior").
template <class T>
void upload_to(const std::vector<T>& values, void* to) {
  if (values.empty()) return;
  C10_CUDA_CHECK(cudaMemcpyAsync(to, values.data(), values.size() * sizeof(T),
                                 cudaMemcpyHostToDevice,
                                 c10::cuda::getCurrentCUDAStream().stream()));
}

// A new array of bytes on `device` with `values`.
template <class T>
at::Tensor upload(const std::vector<T>& values, const at::Device& device) {
  const auto bytes = static_cast<std::int64_t>(values.size() * sizeof(T));
  at::Tensor tensor = at::empty({bytes}, at::TensorOptions().dtype(at::kByte).device(device));
  upload_to(values, tensor.data_ptr());
  return tensor;
}

}  // namespace krl::libtorch
