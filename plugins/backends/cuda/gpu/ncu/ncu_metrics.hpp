// The metrics that ncu is asked for, and the figures that evaluations get from them: all that CUPTI
// provides (metrics.hpp), and those that need more runs of a program than CUPTI's mode may cost:
//
//   compute_throughput, memory_throughput, dram_throughput shares of the hardware's peak, 0..1: the
//       multiprocessors' units, all of the memories' units, the GPU's memory ("speed of light")
//   stall_REASON   why warps waited, as a share of the time between two instructions of a
//       warp, 0..1; the three largest of a program
//
// The reasons are those of "Warp State Statistics" in Nsight Compute's Profiling Guide. Pure.
#pragma once

#include <string>
#include <vector>

#include "plugins/backends/cuda/gpu/ncu/ncu_report.hpp"
#include "plugins/backends/cuda/worker/counters/counter.hpp"

namespace krl::cuda {

// Returns ncu's names of the metrics, each once.
std::vector<std::string> ncu_metrics();

// The values of one run of a program, over all of its launches: sums are added, rates are averaged
// with the weights that make them the rates of the whole.
std::vector<gpu::Counter> counters_of_launches(const std::vector<NcuLaunch>& launches);

}  // namespace krl::cuda
