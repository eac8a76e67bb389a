#include "plugins/backends/cuda/worker/leftovers.hpp"

#include <algorithm>
#include <string>

namespace krl::gpu {
namespace {

constexpr unsigned kThreads = 256;  // threads per block, as the trusted kernels are compiled
constexpr std::uint32_t kLocalBytes[] = {128, 512, 2048, 8192, 32768, 65536};

unsigned positive(CUdevice_attribute which, CUdevice device) {
  return static_cast<unsigned>(attribute(which, device));
}

}  // namespace

Leftovers::Leftovers(CUdevice device, const std::function<CUfunction(const char*)>& trusted)
    : multiprocessors_(positive(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device)),
      threads_(positive(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, device)),
      shared_bytes_(positive(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device)),
      overwrite_(trusted("krl_overwrite")) {
  for (const std::uint32_t bytes : kLocalBytes) {
    overwrite_local_[bytes] = trusted(("krl_overwrite_local_" + std::to_string(bytes)).c_str());
  }
  KRL_CUDA(cuFuncSetAttribute, overwrite_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
           static_cast<int>(shared_bytes_));
}

// A block with all of the registers has a multiprocessor for itself, and so one has each. Where a
// thread's local memory lies follows from its place in the multiprocessor: all places are taken.
void Leftovers::overwrite(const Footprint& footprint, std::uint64_t poison) {
  unsigned shared_bytes = footprint.shared ? shared_bytes_ : 0;
  unsigned words = shared_bytes / sizeof(std::uint32_t);
  void* arguments[] = {&poison, &words};
  KRL_CUDA(cuLaunchKernel, overwrite_, multiprocessors_, 1, 1, kThreads, 1, 1, shared_bytes,
           nullptr, arguments, nullptr);
  if (footprint.local_bytes == 0) return;
  auto local = overwrite_local_.lower_bound(footprint.local_bytes);
  if (local == overwrite_local_.end()) --local;
  KRL_CUDA(cuLaunchKernel, local->second, multiprocessors_ * threads_ / kThreads, 1, 1, kThreads, 1,
           1, 0, nullptr, arguments, nullptr);
}

}  // namespace krl::gpu
