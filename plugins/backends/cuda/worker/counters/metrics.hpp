// The hardware counters to read, their names in evaluations, and values derived from them. To add a
// counter, change only this table. `*__throughput*` metrics are omitted, because each takes
// separate passes, and so are times: those of a range are times of its launches, which the profiler
// makes many times as long.
#pragma once

#include <string_view>
#include <vector>

#include "plugins/backends/cuda/worker/counters/counter.hpp"

namespace krl::gpu {

struct Metric {
  std::string_view name, unit;  // name and unit of the value
  const char* cupti;            // the metric's name in CUPTI and ncu
  double scale = 1;             // the value is this times the metric
  // If the launches of a program are counted separately, as by ncu, and this metric is a rate,
  // names the metric that weights it when averaging. Null: it is a sum.
  const char* weight = nullptr;
};

// Names that the cpu backend has mean the same there. A request is one instruction of one warp, a
// sector 32 bytes; sums are over all multiprocessors.
inline constexpr Metric kMetrics[] = {
    // Warps on a multiprocessor while it had any, as a share of those that fit. 0..1
    {"achieved_occupancy", "", "sm__warps_active.avg.pct_of_peak_sustained_active", 0.01,
     "sm__cycles_active.sum"},
    // Read and written; what stays in the L2 at the end was not written.
    {"dram_bytes", "B", "dram__bytes.sum"},
    {"global_load_requests", "", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"},
    {"global_store_requests", "", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"},
    {"global_load_sectors", "", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"},
    {"global_store_sectors", "", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"},
    {"shared_load_requests", "", "smsp__inst_executed_op_shared_ld.sum"},
    {"shared_store_requests", "", "smsp__inst_executed_op_shared_st.sum"},
    // Cycles that accesses to shared memory took beyond their first; other traffic adds a few.
    {"bank_conflicts", "", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"},
    // Sectors found, as a share of those looked up: loads, stores and atomics. 0..1, but the L2's
    // may exceed 1 for kernels of a few microseconds: its hits and its look-ups need not be counted
    // in the same run, and other work uses it too.
    {"l1_hit_rate", "", "l1tex__t_sector_hit_rate.pct", 0.01, "l1tex__t_sectors.sum"},
    {"l2_hit_rate", "", "lts__t_sector_hit_rate.pct", 0.01, "lts__t_sectors.sum"},
    {"instructions", "", "smsp__inst_executed.sum"},  // warp instructions
    {"thread_instructions", "", "smsp__thread_inst_executed.sum"},
    // Cycles in which a scheduler issued an instruction, as a share of those in which it had warps.
    // 0..1
    {"issue_rate", "", "smsp__issue_active.avg.pct_of_peak_sustained_active", 0.01,
     "smsp__cycles_active.sum"},
    // Cycles in which tensor cores were busy, as a share of those in which a multiprocessor was.
    // 0..1
    {"tensor_pipe", "", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", 0.01,
     "sm__cycles_active.sum"},
};

// The values of those metrics that a chip has, and of all that follows from them:
//   sectors_per_request         of global loads and stores, 1..32
//   warp_efficiency             thread_instructions / (32 instructions), 0..1
//   bank_conflicts_per_request  of loads and stores of shared memory
// A share of nothing is left out. `raw` belongs to `metrics`.
std::vector<Counter> counters_of(const std::vector<const Metric*>& metrics,
                                 const std::vector<double>& raw);

}  // namespace krl::gpu
