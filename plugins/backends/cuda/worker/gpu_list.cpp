#include "plugins/backends/cuda/worker/gpu_list.hpp"

#include <array>
#include <filesystem>
#include <fstream>
#include <set>

#include "plugins/backends/cuda/worker/driver.hpp"

namespace krl::gpu {
namespace {

namespace fs = std::filesystem;

// Returns the files that are mapped into this process.
std::set<std::string> mapped_files() {
  std::set<std::string> files;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::size_t path = line.find('/');
    if (path != std::string::npos) files.insert(line.substr(path));
  }
  return files;
}

// The driver loads parts of itself when they are needed. They lie beside it, as does NVML, which
// can change a GPU's clocks.
std::vector<std::string> needed_libraries() {
  std::set<std::string> files = mapped_files();
  for (const fs::path file : mapped_files()) {
    if (file.filename().string().rfind("libcuda.so", 0) != 0) continue;
    std::error_code error;
    for (const auto& beside : fs::directory_iterator(file.parent_path(), error)) {
      const std::string name = beside.path().filename();
      const bool is_part =
          (name.rfind("libnvidia-", 0) == 0 && name.rfind("libnvidia-ml", 0) != 0) ||
          name.rfind("libcuda.so", 0) == 0 || name.rfind("libcudadebugger.so", 0) == 0;
      if (is_part) files.insert(beside.path());
    }
  }
  return {files.begin(), files.end()};
}

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
  for (int index = 0; index < count; ++index) {
    gpus.push_back(describe(index));
    gpus.back().libraries = needed_libraries();
  }
  return gpus;
}

}  // namespace krl::gpu
