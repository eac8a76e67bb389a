// Numbers between the host and a device.
#pragma once

#include <algorithm>
#include <vector>

#include "plugins/policies/libtorch/torch.hpp"

namespace krl::libtorch {

// A tensor of these numbers. To a GPU they go by page-locked memory, so that the host waits for
// nothing that is in progress.
template <class T>
at::Tensor to_device(const std::vector<T>& values, at::Device device) {
  const auto options = at::TensorOptions(c10::CppTypeToScalarType<T>::value);
  const auto size = static_cast<std::int64_t>(values.size());
  const at::Tensor host = at::empty({size}, options.pinned_memory(!device.is_cpu()));
  std::copy(values.begin(), values.end(), host.mutable_data_ptr<T>());
  return host.to(device, /*non_blocking=*/true);
}

// `x` on the host, contiguous. Waits for the device.
inline at::Tensor to_host(const at::Tensor& x, at::ScalarType type) {
  return x.detach().to(at::kCPU, type).contiguous();
}

}  // namespace krl::libtorch
