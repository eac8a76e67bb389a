// The GPUs whose time can be estimated: one row each, figures from the vendor's data sheets.
// Constant; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace krl::emulator {

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
};

std::span<const GpuDescription> gpu_table();

// Null if there is no such GPU. Names as NVIDIA writes them: "H200 SXM", "A100 SXM", "T4", "Jetson
// Nano".
const GpuDescription* find_gpu(std::string_view name);

}  // namespace krl::emulator
