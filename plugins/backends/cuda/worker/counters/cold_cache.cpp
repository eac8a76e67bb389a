#include "plugins/backends/cuda/worker/counters/cold_cache.hpp"

#include <algorithm>

namespace krl::gpu {
namespace {

std::uint64_t twice_the_l2_of(int index) {
  constexpr std::uint64_t kLeast = 1 << 20;
  CUdevice device = 0;
  int bytes = 0;
  KRL_CUDA(cuDeviceGet, &device, index);
  KRL_CUDA(cuDeviceGetAttribute, &bytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, device);
  return std::max(2 * static_cast<std::uint64_t>(bytes), kLeast);
}

}  // namespace

// The contents of the memory do not matter: the kernel that looks for changes reads all of it.
ColdCache::ColdCache(const DeviceSession& session, int device)
    : read_(session.trusted("krl_find_changes")),
      bytes_(twice_the_l2_of(device)),
      memory_(allocate(bytes_)),
      finding_(allocate(sizeof(std::uint64_t))),
      uploaded_range_(range_.upload(std::vector<DeviceRange>{{0, bytes_}})) {
  KRL_CUDA(cuMemsetD8Async, memory_.get(), 0, bytes_, nullptr);
}

void ColdCache::clear() {
  CUdeviceptr memory = memory_.get(), finding = finding_.get();
  std::uint64_t no_guards = 0;
  void* arguments[] = {&memory, &uploaded_range_, &finding, &no_guards, &no_guards};
  launch_trusted(read_, 1, bytes_ / sizeof(std::uint64_t), arguments);
}

}  // namespace krl::gpu
