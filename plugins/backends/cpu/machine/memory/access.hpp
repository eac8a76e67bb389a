// What is known of one memory instruction of a program: the shapes of its last accesses, so that
// another access of the same shape costs a comparison, and what it did in the present launch.
// Belongs to the program; one thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "plugins/backends/cpu/machine/memory/shape.hpp"

namespace krl::machine {

struct Region;

enum class AccessKind : std::uint8_t { kLoad, kStore, kAtomic, kCopy };  // kCopy: cp.async

// What a profiler would count. A request is one execution by one warp, whatever its lanes.
struct AccessCounts {
  std::uint64_t global_requests = 0;
  std::uint64_t sectors = 0;       // of 32 bytes, of global memory
  std::uint64_t dram_sectors = 0;  // first touched in this launch; of loads and stores each
  std::uint64_t l2_sectors = 0;    // loads: touched before, but not by this block
  std::uint64_t l1_sectors = 0;    // loads: loaded before by this block
  std::uint64_t shared_requests = 0;
  std::uint64_t wavefronts = 0;      // passes over the 32 banks of shared memory
  std::uint64_t bank_conflicts = 0;  // wavefronts beyond those that the width asks for
  std::uint64_t local_requests = 0;
  std::uint64_t local_sectors = 0;
  std::uint64_t atomic_passes = 0;  // the most lanes on one address, summed over requests
};

struct MemoryAccess {
  AccessKind kind = AccessKind::kLoad;
  std::uint8_t lane_bytes = 0;  // of each lane: 1 to 32
  AccessCounts counts;          // of this launch
  Region* region = nullptr;     // of global memory that was touched last
  ShapeMemo global, shared;
};

}  // namespace krl::machine
