#include "plugins/backends/cuda/worker/gpu_list.hpp"

#include <array>

#include "plugins/backends/cuda/worker/driver.hpp"

namespace krl::gpu {
namespace {

GpuDescription describe(int index) {
  CUdevice device = 0;
  KRL_CUDA(cuDeviceGet, &device, index);
  const auto attribute = [device](CUdevice_attribute which) {
    int value = 0;
    KRL_CUDA(cuDeviceGetAttribute, &value, which, device);
    return value;
  };
  GpuDescription gpu;
  gpu.index = index;
  std::array<char, 256> name{};
  KRL_CUDA(cuDeviceGetName, name.data(), static_cast<int>(name.size()), device);
  gpu.name = name.data();
  gpu.arch = "sm_" + std::to_string(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)) +
             std::to_string(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  KRL_CUDA(cuDriverGetVersion, &gpu.driver);
  std::size_t bytes = 0;
  KRL_CUDA(cuDeviceTotalMem, &bytes, device);
  gpu.memory_bytes = bytes;
  gpu.l2_bytes = static_cast<std::uint64_t>(attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE));
  gpu.multiprocessors = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  // Two transfers a clock (kHz), the width in bits.
  gpu.bandwidth = 2.0 * 1e3 * attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE) *
                  attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH) / 8;
  return gpu;
}

}  // namespace

std::vector<GpuDescription> list_gpus() {
  int count = 0;
  KRL_CUDA(cuDeviceGetCount, &count);
  std::vector<GpuDescription> gpus;
  for (int index = 0; index < count; ++index) gpus.push_back(describe(index));
  return gpus;
}

}  // namespace krl::gpu
