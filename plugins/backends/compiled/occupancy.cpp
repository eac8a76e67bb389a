#include "plugins/backends/compiled/occupancy.hpp"

#include <climits>
#include <utility>

#include <cuda_occupancy.h>

namespace krl::compiled {
namespace {

// The same for every architecture of the table.
constexpr int kWarp = 32, kMaxThreadsPerBlock = 1024, kRegistersPerSm = 65536;
constexpr std::size_t kSharedWithoutOptIn = 48 * 1024;

cudaOccDeviceProp properties_of(const ComputeCapability& gpu) {
  cudaOccDeviceProp p;
  p.computeMajor = gpu.major;
  p.computeMinor = gpu.minor;
  p.maxThreadsPerBlock = kMaxThreadsPerBlock;
  p.maxThreadsPerMultiprocessor = gpu.threads_per_sm;
  p.regsPerBlock = kRegistersPerSm;
  p.regsPerMultiprocessor = kRegistersPerSm;
  p.warpSize = kWarp;
  p.sharedMemPerBlock = kSharedWithoutOptIn;
  p.sharedMemPerMultiprocessor = static_cast<std::size_t>(gpu.shared_per_sm);
  p.numSms = 1;  // no influence on one multiprocessor
  p.sharedMemPerBlockOptin = static_cast<std::size_t>(gpu.shared_per_block);
  p.reservedSharedMemPerBlock = gpu.major >= 8 ? 1024 : 0;
  return p;
}

std::string limiter_of(unsigned factors) {
  // If several resources limit alike, the first is the one that a programmer can do most about.
  constexpr std::pair<unsigned, const char*> kNames[] = {{OCC_LIMIT_REGISTERS, "registers"},
                                                         {OCC_LIMIT_SHARED_MEMORY, "shared memory"},
                                                         {OCC_LIMIT_BARRIERS, "barriers"},
                                                         {OCC_LIMIT_WARPS, "threads"},
                                                         {OCC_LIMIT_BLOCKS, "blocks"}};
  for (const auto& [factor, name] : kNames) {
    if ((factors & factor) != 0) return name;
  }
  return {};
}

}  // namespace

Occupancy theoretical_occupancy(const ComputeCapability& gpu, const BlockResources& block) {
  const cudaOccDeviceProp properties = properties_of(gpu);
  cudaOccFuncAttributes attributes;
  attributes.maxThreadsPerBlock = INT_MAX;
  attributes.numRegs = block.registers;
  attributes.sharedSizeBytes = static_cast<std::size_t>(block.static_shared);
  attributes.partitionedGCConfig = PARTITIONED_GC_OFF;
  attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  attributes.maxDynamicSharedSizeBytes = static_cast<std::size_t>(block.dynamic_shared);
  attributes.numBlockBarriers = block.barriers;
  const cudaOccDeviceState state;
  cudaOccResult result{};
  const cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(
      &result, &properties, &attributes, &state, static_cast<int>(block.threads),
      static_cast<std::size_t>(block.dynamic_shared));
  if (error != CUDA_OCC_SUCCESS) return {0, 0, limiter_of(OCC_LIMIT_SHARED_MEMORY)};
  const std::int64_t warps = (block.threads + kWarp - 1) / kWarp;
  return {result.activeBlocksPerMultiprocessor,
          static_cast<double>(result.activeBlocksPerMultiprocessor * warps * kWarp) /
              gpu.threads_per_sm,
          limiter_of(result.limitingFactors)};
}

}  // namespace krl::compiled
