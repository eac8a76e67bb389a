// Theoretical occupancy: how many blocks of a kernel a multiprocessor can hold at once, according
// to NVIDIA's calculation (cuda_occupancy.h). Pure.
#pragma once

#include <cstdint>
#include <string>

#include "plugins/backends/compiled/compute_capability.hpp"

namespace krl::compiled {

struct BlockResources {
  std::int64_t threads = 1;
  std::int32_t registers = 0;                          // per thread
  std::int64_t static_shared = 0, dynamic_shared = 0;  // bytes
  std::int32_t barriers = 0;
};

struct Occupancy {
  std::int32_t blocks_per_sm = 0;  // 0: a block does not fit
  double fraction = 0;             // resident threads, in whole warps, over the most there can be
  std::string limiter;             // "registers", "shared memory", "threads", "blocks", "barriers"
};

Occupancy theoretical_occupancy(const ComputeCapability& gpu, const BlockResources& block);

}  // namespace krl::compiled
