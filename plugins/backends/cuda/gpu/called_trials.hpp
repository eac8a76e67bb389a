// Trials of host code between KernelBench's events (protocol.hpp: CalledTrial), each on a set that
// the checker lays out anew with new inputs, so that nothing of the previous trial is useful. The
// events belong to the candidate's process and see one stream. If a trial leaves more work outside
// of them than an empty one, by our clock or by its own, the time of that work is added. Used by
// the thread that holds the GPU's lease.
#pragma once

#include <optional>
#include <vector>

#include "plugins/backends/cuda/gpu/gpu.hpp"
#include "plugins/backends/cuda/gpu/gpu_candidate.hpp"
#include "plugins/backends/evaluator/check/run_plan.hpp"
#include "plugins/backends/evaluator/evaluation_record.hpp"

namespace krl::cuda {

// Times of each trial in ns: between the events, from then until all streams had ended, and by our
// clock.
struct CalledTrials {
  std::vector<double> between, rest, by_clock;
};

// Makes trials of a candidate that has passed the run, as many as KernelBench makes, or as fit into
// some seconds. Outputs of some of them, and of the last, are checked. Returns nothing if it
// failed; the record then contains the reason.
std::optional<CalledTrials> call_trials(Gpu& gpu, const GpuCandidate& candidate,
                                        const evaluator::PlannedRun& run,
                                        evaluator::EvaluationRecord* record);

// Returns how long each trial took. REQUIRES: no candidate's process lives.
std::vector<double> trial_times(Gpu& gpu, const evaluator::PreparedTask& task,
                                const evaluator::PlannedRun& run, const CalledTrials& trials);

}  // namespace krl::cuda
