// Estimates the time of a launch on a GPU from the machine's counters and the compiler's report: a
// roofline with latency.
//
// A launch cannot be faster than each of its parts alone: bytes over the bandwidth of DRAM and of
// L2, requests over the load-store units, instructions over the units that execute them, wavefronts
// over the banks of shared memory, atomic operations on one address one after another, and the paths
// of all blocks, as many side by side as are resident. The estimate is the sum of the start of the
// launch; the longest path, whose warps start together so that nothing hides it; the time by which
// the slowest part exceeds it; a share of that of the others, which never overlap
// perfectly; and the additional wait of the last of many blocks and requests. An estimate is
// deterministic, never 0, and never falls when a counter rises; it is not a measurement and must be
// labelled. Pure; any thread.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "plugins/backends/cpu/gpu_table.hpp"
#include "plugins/backends/cpu/machine_protocol.hpp"

namespace krl::cpu {

enum class Bound { kDram, kL2, kLoadStore, kIssue, kShared, kAtomics, kLatency, kBlocks };
inline constexpr std::size_t kBounds = 8;

// "dram", "l2", "load_store", "issue", "shared", "atomics", "latency", "blocks"
std::string_view name_of(Bound bound);

// Properties of an assembled kernel.
struct AssembledKernel {
  std::int32_t registers = 0;    // per thread; 0: unknown, and no limit
  std::int32_t spill_bytes = 0;  // bytes that a thread stores because registers run out
  std::int32_t barriers = 0;
  std::int32_t shared_bytes = 0;  // static, of a block
};

struct LaunchEstimate {
  double ns = 0;
  std::array<double, kBounds> bound_ns{};  // time of each part alone, without the start
  Bound limit = Bound::kDram;              // the slowest part
  double occupancy = 0;                    // warps that fit an SM over the most it can hold
  std::uint32_t blocks_per_sm = 0;         // resident at once; 0: the block does not fit the GPU
  std::string occupancy_limiter;           // named as in cuda/occupancy.hpp
};

// Returns the cost of each part of a path.
PathClocks path_clocks(const GpuDescription& gpu);

// Blocks of a launch that the GPU holds at once; 0: a block does not fit. `shared_bytes`: static
// and dynamic, of each block.
std::uint32_t resident_blocks(const Dim3& block, std::uint32_t shared_bytes,
                              const AssembledKernel& kernel, const GpuDescription& gpu);

LaunchEstimate estimate(const LaunchReport& launch, const AssembledKernel& kernel,
                        const GpuDescription& gpu);

}  // namespace krl::cpu
