// The engine's CUDA kernels: compiled with NVRTC for the GPU and the shape of the model when a
// policy starts, cached on disk for the next start, and launched on torch's current stream, so that
// a CUDA graph captures them like torch's kernels.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "plugins/policies/libtorch/cuda/kernel_compiler.hpp"

namespace krl::libtorch {

struct Grid {
  std::int64_t x = 1, y = 1, z = 1;
};

// A kernel that is loaded on the device that was current then. A value; valid as long as its
// library.
class Kernel {
 public:
  Kernel() = default;
  explicit Kernel(cudaKernel_t handle) : handle_(handle) {}

  // Starts it on torch's current stream. The arguments are passed as they are, so their types must
  // be those of the kernel's parameters (pointers, int, float, std::int64_t for long long).
  template <class... Arguments>
  void operator()(Grid grid, int threads, Arguments... arguments) const {
    void* pointers[] = {static_cast<void*>(&arguments)..., nullptr};
    launch(grid, threads, pointers);
  }

 private:
  void launch(Grid grid, int threads, void** arguments) const;
  cudaKernel_t handle_ = nullptr;
};

// The kernels of one source. Belongs to the thread and the device that made it; move-only.
class KernelLibrary {
 public:
  // Loads the source's cached_cubin() for the current device. Errors as compile_kernels().
  KernelLibrary(std::string_view name, std::string_view source, const std::vector<Define>& defines);
  ~KernelLibrary();
  KernelLibrary(KernelLibrary&& other) noexcept;
  KernelLibrary& operator=(KernelLibrary&&) = delete;

  // Returns the `extern "C" __global__` function `name`; KRL_INTERNAL if there is none.
  Kernel kernel(const char* name) const;

 private:
  cudaLibrary_t library_ = nullptr;
};

}  // namespace krl::libtorch
