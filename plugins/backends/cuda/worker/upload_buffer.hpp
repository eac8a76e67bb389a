// Memory on the GPU that grows to fit its contents. Used by one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "plugins/backends/cuda/worker/driver.hpp"

namespace krl::gpu {

class UploadBuffer {
 public:
  // Uploads the values and returns their address, which is valid until the next call.
  template <class T>
  CUdeviceptr upload(const std::vector<T>& values) {
    return upload(values.data(), values.size() * sizeof(T));
  }

 private:
  CUdeviceptr upload(const void* data, std::uint64_t bytes);
  std::uint64_t bytes_ = 0;
  DeviceMemory memory_;
};

}  // namespace krl::gpu
