#include "plugins/policies/libtorch/cuda/kernel_library.hpp"

#include <c10/cuda/CUDAStream.h>

#include <kernelrl/values.hpp>

#include "plugins/policies/libtorch/cuda/cubin_cache.hpp"

namespace krl::libtorch {
namespace {

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  throw Failure(KRL_INTERNAL, std::string(what) + ": " + cudaGetErrorString(error));
}

// Hopper and its successors have instructions that only their own architecture runs: the "a" asks
// for them.
std::string current_architecture() {
  int device = 0, major = 0, minor = 0;
  check(cudaGetDevice(&device), "no current CUDA device");
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
        "cannot ask the GPU for its architecture");
  check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device),
        "cannot ask the GPU for its architecture");
  return "sm_" + std::to_string(major) + std::to_string(minor) + (major >= 9 ? "a" : "");
}

}  // namespace

void Kernel::launch(Grid grid, int threads, void** arguments) const {
  const dim3 blocks(static_cast<unsigned>(grid.x), static_cast<unsigned>(grid.y),
                    static_cast<unsigned>(grid.z));
  check(cudaLaunchKernel(reinterpret_cast<const void*>(handle_), blocks,
                         dim3(static_cast<unsigned>(threads)), arguments, 0,
                         c10::cuda::getCurrentCUDAStream().stream()),
        "cannot launch a kernel of the local policy");
}

KernelLibrary::KernelLibrary(std::string_view name, std::string_view source,
                             const std::vector<Define>& defines) {
  const std::string cubin = cached_cubin(name, source, defines, current_architecture());
  check(cudaLibraryLoadData(&library_, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
        "cannot load the kernels of the local policy");
}

KernelLibrary::~KernelLibrary() {
  if (library_ != nullptr) cudaLibraryUnload(library_);
}

KernelLibrary::KernelLibrary(KernelLibrary&& other) noexcept : library_(other.library_) {
  other.library_ = nullptr;
}

Kernel KernelLibrary::kernel(const char* name) const {
  cudaKernel_t handle = nullptr;
  check(cudaLibraryGetKernel(&handle, library_, name), name);
  return Kernel(handle);
}

}  // namespace krl::libtorch
