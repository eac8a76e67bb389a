// CUDA's driver API, loaded when first used, because a machine without a GPU does not have it: the
// calls made by the GPU's processes, and owners of their results. A process uses one GPU, from one
// thread.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace krl::gpu {

// Each as cuda.h declares it, under the name that cuda.h maps it to (cuMemAlloc_v2).
// clang-format off
#define KRL_DRIVER_FUNCTIONS(F) \
  F(cuInit) F(cuGetErrorName) F(cuGetErrorString) F(cuDriverGetVersion) \
  F(cuDeviceGetCount) F(cuDeviceGet) F(cuDeviceGetName) F(cuDeviceGetPCIBusId) \
  F(cuDeviceGetAttribute) F(cuDeviceTotalMem) F(cuDevicePrimaryCtxRetain) \
  F(cuCtxSetCurrent) F(cuCtxSynchronize) F(cuCtxSetLimit) F(cuCtxResetPersistingL2Cache) \
  F(cuMemGetInfo) F(cuMemAlloc) F(cuMemFree) F(cuMemHostAlloc) F(cuMemFreeHost) \
  F(cuMemHostGetDevicePointer) \
  F(cuMemcpyHtoD) F(cuMemcpyDtoH) F(cuMemcpyHtoDAsync) F(cuMemcpyDtoHAsync) \
  F(cuMemcpyDtoDAsync) F(cuMemsetD8Async) \
  F(cuModuleLoadData) F(cuModuleUnload) F(cuModuleGetFunction) F(cuFuncGetAttribute) \
  F(cuFuncSetAttribute) F(cuTensorMapEncodeTiled) \
  F(cuLaunchKernel) \
  F(cuEventCreate) F(cuEventDestroy) F(cuEventRecord) F(cuEventElapsedTime) \
  F(cuIpcGetMemHandle) F(cuIpcOpenMemHandle) F(cuIpcCloseMemHandle)
// clang-format on

struct Driver {
#define KRL_DECLARE(name) decltype(&::name) name = nullptr;
  KRL_DRIVER_FUNCTIONS(KRL_DECLARE)
#undef KRL_DECLARE
};

// A call of the driver's that failed.
struct CudaError : std::runtime_error {
  CudaError(CUresult code, const std::string& call);
  CUresult code;
  std::string name;  // "CUDA_ERROR_ILLEGAL_ADDRESS"
};

// The driver, initialised. Throws std::runtime_error if the machine has none that can be used.
const Driver& driver();

// Throws CudaError unless the call succeeded.
void require(CUresult result, const char* call);

#define KRL_CUDA(function, ...) \
  ::krl::gpu::require(::krl::gpu::driver().function(__VA_ARGS__), #function)

// Owns one handle and frees it with `Free`. Errors of freeing are ignored: after a fault nothing
// can be freed.
template <class Handle, void (*Free)(Handle)>
class Owned {
 public:
  Owned() = default;
  explicit Owned(Handle handle) : handle_(handle) {}
  Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, Handle())) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owned() {
    if (handle_ != Handle()) Free(handle_);
  }
  Handle get() const { return handle_; }

 private:
  Handle handle_ = Handle();
};

void free_memory(CUdeviceptr memory);
void free_host_memory(void* memory);
void free_module(CUmodule module);
void free_event(CUevent event);
void free_import(CUdeviceptr memory);

using DeviceMemory = Owned<CUdeviceptr, free_memory>;
using HostMemory = Owned<void*, free_host_memory>;  // readable by the GPU
using DeviceModule = Owned<CUmodule, free_module>;
using DeviceEvent = Owned<CUevent, free_event>;
using ImportedMemory = Owned<CUdeviceptr, free_import>;  // memory of another process

int attribute(CUdevice_attribute which, CUdevice device);
DeviceMemory allocate(std::uint64_t bytes);
HostMemory allocate_host(std::uint64_t bytes);

}  // namespace krl::gpu
