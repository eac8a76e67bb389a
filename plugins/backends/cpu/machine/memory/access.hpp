// The state of one memory instruction of a program: its form; the shapes of its last accesses, so
// that another access of the same shape costs only a comparison; and its counts in the current
// launch. Belongs to the program; used by one thread.
#pragma once

#include <array>
#include <cstdint>

#include "plugins/backends/cpu/machine/memory/combination.hpp"
#include "plugins/backends/cpu/machine/memory/shape.hpp"

namespace krl::machine {

struct Region;

enum class AccessKind : std::uint8_t { kLoad, kStore, kAtomic, kCopy };  // kCopy: to shared memory

// Events that a profiler would count. A request is one execution by one warp, with any number of
// lanes.
struct AccessCounts {
  std::uint64_t global_requests = 0;
  std::uint64_t sectors = 0;         // sectors of 32 bytes of global memory
  std::uint64_t needed_sectors = 0;  // sectors that neighbouring addresses would have touched
  std::uint64_t dram_sectors = 0;    // first loaded or first stored in this launch
  std::uint64_t dram_reads = 0;      // atomics: sectors first stored, and not loaded before
  std::uint64_t l2_sectors = 0;      // loads: touched before, but not loaded by this block
  std::uint64_t l1_sectors = 0;      // loads: loaded before by this block
  std::uint64_t shared_requests = 0;
  std::uint64_t wavefronts = 0;      // passes over the 32 banks of shared memory
  std::uint64_t bank_conflicts = 0;  // wavefronts beyond those that the width requires
  std::uint64_t local_requests = 0;
  std::uint64_t local_sectors = 0;
  std::uint64_t atomic_passes = 0;  // global: the most lanes at one address, summed over requests
  std::uint64_t shared_repeats = 0, shared_loops = 0;  // see cpu::Counters
  std::uint64_t constant_repeats = 0;                  // …
};

struct MemoryAccess {
  static constexpr std::size_t kMostElements = 8;

  AccessKind kind = AccessKind::kLoad;
  bool strong = false;       // volatile, relaxed, acquire, release, atomic
  bool block_scope = false;  // strong towards threads of the same block only
  bool read_only = false;    // a load through the cache for what nobody writes (ld.nc)
  bool past_l1 = false;      // a load that the L1 cache does not answer (ld.cg, ld.cv)
  bool reduces = false;      // atomic; no one reads the old value, and others may come first
  bool replaces = false;     // atomic whose result does not depend on the old value
  bool idle = false, movable = false;  // see IdleLoads
  bool own_block = false;              // shared memory of no other block of the cluster
  bool loops = false;                  // atomic; a loop of compare-and-swap in shared memory
  std::uint8_t elements = 1;           // elements of a vector
  std::uint8_t element_bytes = 4;      // size in memory
  // Rows of the elements: sources, or destinations (0: none), and the bytes of a lane's register.
  std::uint32_t rows[kMostElements] = {};
  std::uint8_t register_bytes[kMostElements] = {};
  Combination combine = nullptr;  // a bulk copy that reduces
  std::uint32_t wait = 0;         // loads of a region with one number wait together
  bool carried = false;           // a load that its own region does not wait for
  AccessCounts counts;            // counts of this launch
  Region* region = nullptr;       // region of global memory that was touched last in this launch
  ShapeMemo shapes;

  std::uint32_t lane_bytes() const { return std::uint32_t{elements} * element_bytes; }
};

}  // namespace krl::machine
