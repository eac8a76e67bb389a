// The GPUs whose times can be estimated: one row each, with figures from the vendor's data sheets,
// and every constant of the model with its source. Constant; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "plugins/backends/cpu/instruction_class.hpp"

namespace krl::cpu {

// The model's constants for a warp's path and an SM's units, shared by GPUs of one architecture.
struct ModelConstants {
  double overlap_loss;  // share of a faster part that shows behind the slowest
  // Share of a path's time that other parts may fill. At most 0.52: beyond that, and with this
  // loss, an estimate would fall as a path grows.
  double hidden_by_path;
  // Cycles of a single warp per cycle of a dependent chain, including fetch, branches and operand
  // waits.
  double clocks_per_chain_clock;
  double clocks_per_request;          // load-store unit of an SM
  double clocks_per_sector;           // path from L1 to an SM
  double clocks_per_new_instruction;  // fetching code that was not executed before, per instruction
  double clocks_per_block;            // starting and ending a block on an SM
  // Share of the load-store units' time that shows behind a path that hides the rest.
  double queued_share;
  // The last of many ends later than one alone would, by this for every e times as many: of the
  // SMs that have blocks, and of the requests to load from global memory.
  double block_spread_ns, request_spread_ns;
};

struct GpuDescription {
  std::string_view name;
  std::string_view arch;  // "sm_75": what candidates are compiled for; see compute_capability.hpp
  // ---- from data sheets; the sources are given next to the rows ----
  std::uint32_t sms;
  double clock_ghz;  // boost
  double dram_gb_per_s;
  const PerClass<double>* clocks_per_warp;          // for the unit of an SM that executes the class
  const PerTensorType<double>* products_per_clock;  // multiplications and additions, of an SM
  // ---- of the model, in clocks unless named otherwise ----
  double dram_efficiency;  // attainable share of dram_gb_per_s
  double l2_bytes_per_clock;
  double dram_latency, l2_latency, l1_latency, shared_latency;
  // Defaults are those that were fitted for the H200.
  double shuffle_latency = 63.7;  // with the few instructions around it, which end its basic block
  double barrier_latency = 30.1, atomic_latency = 106;
  double atomic_interval = 2;  // between two atomic operations on one address
  double start_ns = 1810;      // time of an empty launch, with the least time between two
  const ModelConstants* model;
};

std::span<const GpuDescription> gpu_table();

// The names of the table, as NVIDIA writes them, and as options list choices.
inline constexpr char kGpuNames[] =
    "H200 SXM|H100 SXM|B200|A100 SXM|L4|RTX 4090|T4|Jetson Orin Nano";

// Null if there is no such GPU.
const GpuDescription* find_gpu(std::string_view name);

}  // namespace krl::cpu
