// Times a candidate and its reference as KernelBench does (protocol.hpp: Trials), with all of its
// omissions: it is KernelBench's figure, reported beside ours (timing.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "plugins/backends/cuda/gpu/gpu.hpp"
#include "plugins/backends/cuda/gpu/gpu_candidate.hpp"
#include "plugins/backends/evaluator/check/run_plan.hpp"
#include "plugins/backends/evaluator/evaluation_record.hpp"

namespace krl::cuda {

// KernelBench's: 3 warm-ups, a first trial that does not count, and 100 that do.
inline constexpr std::uint32_t kWarmUps = 3, kTrials = 100;
inline constexpr double kMostNs = 10e9;  // all trials together: KernelBench takes its time

// Fills in the times of the counted cases: means, of 100 trials or of as many as fit into 10 s. A
// candidate that fails in a trial is wrong there, and flagged if checked outputs are wrong. Throws
// as check_on_gpu does.
void time_trials(Gpu& gpu, const GpuCandidate& candidate,
                 const std::vector<evaluator::PlannedRun>& runs,
                 evaluator::EvaluationRecord* record);

}  // namespace krl::cuda
