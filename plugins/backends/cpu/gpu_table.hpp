// The GPUs whose time can be estimated: one row each, figures from the vendor's data sheets, and
// every constant of the model with its source.
// Constant; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace krl::emulator {

// What the model makes of a warp's path and of an SM's units, the same for GPUs that work alike.
struct ModelConstants {
  double overlap_loss;   // share of a faster part that shows behind the slowest
  double exposed_waves;  // of blocks whose latency nothing hides: those that start together
  double clocks_per_request, clocks_per_sector;  // of the load-store units, per SM
  double least_clocks_per_sector;  // … and no less than this, however few the requests are
  double dependent_issue_clocks;   // from one instruction of a warp to the next on its path
  double unrolled_loads;   // batches of loads on a path that unrolling puts under way together, if
                           // nothing between them keeps their order
  double loads_in_flight;  // … and how many of what is left wait at the same time
  double shared_loads_in_flight;
  double clocks_per_block;    // to start and end a block on an SM
  double clocks_per_shuffle;  // of issue, beyond the instruction itself
  // The last of many blocks ends later than one alone would, by this for every e times as many: of
  // all that run at once, and of those of them that wait for memory.
  double block_spread_ns, wait_spread_ns;
};

struct GpuDescription {
  std::string_view name;
  // ---- from data sheets; the sources stand beside the rows ----
  std::uint32_t sms;
  double clock_ghz;  // boost
  double dram_gb_per_s;
  std::uint32_t warps_per_clock;  // instructions that one SM issues per clock
  std::uint32_t max_threads_per_sm;
  std::uint32_t max_blocks_per_sm;
  std::uint32_t shared_bytes_per_sm;
  std::uint32_t max_shared_bytes_per_block;  // with the opt-in, where there is one
  bool l1_caches_loads;                      // of global memory, by default
  // ---- of the model, in clocks unless named otherwise ----
  double dram_efficiency;  // attainable share of dram_gb_per_s
  double l2_bytes_per_clock;
  double dram_latency, l2_latency, l1_latency, shared_latency, shuffle_latency, barrier_latency,
      atomic_latency;
  double atomic_interval;  // between two atomic operations on one address
  double start_ns;         // of a launch that does nothing
  const ModelConstants* model;
};

std::span<const GpuDescription> gpu_table();

// Null if there is no such GPU. Names as NVIDIA writes them: "H200 SXM", "A100 SXM", "T4", "Jetson
// Nano".
const GpuDescription* find_gpu(std::string_view name);

}  // namespace krl::emulator
