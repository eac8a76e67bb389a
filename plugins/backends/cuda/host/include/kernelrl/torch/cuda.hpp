// CUDA as provided by torch: the current stream, which is the one timed by the harness, guards for
// the device, of which there is one, and checks of CUDA calls.
#pragma once

#include <cuda_runtime_api.h>

#include "kernelrl/torch/tensor.hpp"

namespace c10::cuda {

class CUDAStream {
 public:
  CUDAStream() = default;
  explicit CUDAStream(cudaStream_t stream) : stream_(stream) {}
  cudaStream_t stream() const { return stream_; }
  operator cudaStream_t() const { return stream_; }
  std::int8_t device_index() const { return 0; }
  void synchronize() const { cudaStreamSynchronize(stream_); }

 private:
  cudaStream_t stream_ = nullptr;
};

inline CUDAStream getCurrentCUDAStream(int = -1) {
  const kernelrl_host::Call* call = kernelrl_host::current_call;
  return CUDAStream(call == nullptr ? nullptr : static_cast<cudaStream_t>(call->stream));
}
inline CUDAStream getDefaultCUDAStream(int = -1) { return getCurrentCUDAStream(); }
inline int current_device() { return 0; }
inline int device_count() { return 1; }

struct CUDAGuard {
  explicit CUDAGuard(int) {}
  explicit CUDAGuard(Device) {}
};
struct OptionalCUDAGuard {
  OptionalCUDAGuard() = default;
  explicit OptionalCUDAGuard(const optional<Device>&) {}
};
struct CUDAStreamGuard {
  explicit CUDAStreamGuard(CUDAStream) {}
};

inline void check(cudaError_t error) {
  TORCH_CHECK(error == cudaSuccess, "CUDA error: ", cudaGetErrorString(error));
}

}  // namespace c10::cuda

namespace at {

inline optional<Device> device_of(const Tensor&) { return Device(); }

namespace cuda {
using namespace c10::cuda;

inline cudaDeviceProp* getCurrentDeviceProperties() {
  static cudaDeviceProp properties = [] {
    cudaDeviceProp asked{};
    int device = 0;
    c10::cuda::check(cudaGetDevice(&device));
    c10::cuda::check(cudaGetDeviceProperties(&asked, device));
    return asked;
  }();
  return &properties;
}
inline cudaDeviceProp* getDeviceProperties(int) { return getCurrentDeviceProperties(); }
}  // namespace cuda

}  // namespace at

#define C10_CUDA_CHECK(call) ::c10::cuda::check(call)
#define AT_CUDA_CHECK(call) ::c10::cuda::check(call)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() ::c10::cuda::check(cudaGetLastError())
