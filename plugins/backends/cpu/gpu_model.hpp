// The estimated time of a launch on a GPU, from the emulator's counters: a roofline with latency.
//
// A launch can be no faster than each of its parts alone: bytes over the bandwidth of DRAM and of
// L2, requests over the load-store units, instructions over the issue slots, wavefronts over the
// banks of shared memory, atomic operations on one address one after another, and the longest path
// of a warp times the waves of blocks that follow each other. The estimate is the start of the
// launch, the path of the first wave, whose warps start together so that nothing hides it, the
// slowest part of the rest, and a share of the others, which never overlap perfectly. An estimate
// is deterministic, never 0, and never falls when a counter rises; it is not a measurement and must
// be labelled. Pure; any thread.
#pragma once

#include <array>
#include <string_view>

#include "plugins/backends/cpu/gpu_table.hpp"
#include "plugins/backends/cpu/runner_protocol.hpp"

namespace krl::emulator {

enum class Bound { kDram, kL2, kLoadStore, kIssue, kShared, kAtomics, kLatency, kBlocks };
inline constexpr std::size_t kBounds = 8;

// "dram", "l2", "load_store", "issue", "shared", "atomics", "latency", "blocks"
std::string_view name_of(Bound bound);

struct LaunchEstimate {
  double ns = 0;
  std::array<double, kBounds> bound_ns{};  // what each part alone would take, without the start
  Bound limit = Bound::kDram;              // the slowest part
  double occupancy =
      0;  // warps that fit an SM over the most it can hold; registers are unknown here
  std::uint32_t blocks_per_sm = 0;  // resident at once; 0: the block does not fit the GPU
};

LaunchEstimate estimate(const LaunchReport& launch, const GpuDescription& gpu);

}  // namespace krl::emulator
