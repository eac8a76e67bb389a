// The GPUs of this machine, as the driver describes them. Plain values.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace krl::gpu {

struct GpuDescription {
  int index = 0;     // among those in CUDA_VISIBLE_DEVICES
  std::string name;  // "NVIDIA H200"
  std::string arch;  // "sm_90"
  int driver = 0;    // the newest CUDA that the driver can: 13000
  std::uint64_t memory_bytes = 0, l2_bytes = 0;
  int multiprocessors = 0;
  double bandwidth = 0;  // bytes/s, from the memory's clock and width
  // The files whose code a process that uses it needs: its own libraries and the driver's.
  std::vector<std::string> libraries;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GpuDescription, index, name, arch, driver, memory_bytes,
                                   l2_bytes, multiprocessors, bandwidth, libraries)

// Throws std::runtime_error if there is no driver.
std::vector<GpuDescription> list_gpus();

}  // namespace krl::gpu
