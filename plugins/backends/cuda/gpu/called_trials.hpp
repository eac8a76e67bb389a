// Trials of host code between KernelBench's events (protocol.hpp: CalledTrial), each on a set that
// the checker lays out anew with new inputs, so that nothing of the trial before is of use. The
// events are those of the candidate's process and see one stream; a trial that leaves more work
// beside them than one that does nothing, by our clock or by its own, takes as much longer. Used by
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

// Trials of a candidate that has passed the run, as many as KernelBench makes, or those of some
// seconds. Outputs of some of them, and of the last, are checked. Nothing: it failed, and the
// record says how.
std::optional<CalledTrials> call_trials(Gpu& gpu, const GpuCandidate& candidate,
                                        const PlannedRun& run, EvaluationRecord* record);

// Returns how long each trial took. REQUIRES: no candidate's process lives.
std::vector<double> trial_times(Gpu& gpu, const PreparedTask& task, const PlannedRun& run,
                                const CalledTrials& trials);

}  // namespace krl::cuda
