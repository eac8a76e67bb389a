// Times a candidate with host code against a baseline in the checker. Its process could use the GPU
// and the processors at any time, so no baseline is timed while it lives: one half of a baseline's
// samples comes before the process has the candidate's code, the other after its end. Used by the
// thread that holds the GPU's lease.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "plugins/backends/cuda/gpu/gpu.hpp"
#include "plugins/backends/cuda/gpu/gpu_candidate.hpp"
#include "plugins/backends/cuda/gpu/host_calls.hpp"
#include "plugins/backends/cuda/gpu/launch_check.hpp"
#include "plugins/backends/cuda/gpu/timing.hpp"

namespace krl::cuda {

class HostTiming {
 public:
  // All are borrowed.
  HostTiming(Gpu& gpu, const evaluator::PreparedTask& task, const GpuBaseline& baseline,
             const std::vector<evaluator::PlannedRun>& runs);

  // The first half of the baselines' samples, and what else is measured once a task. REQUIRES: no
  // process has a candidate's code. Throws as check_on_gpu does.
  void time_baselines();
  // Times a candidate that has passed `runs`, ends its process, and times the baselines again.
  // Fills in as time_on_gpu does, and throws as that.
  void time(const GpuCandidate& candidate, const TimingSettings& settings,
            evaluator::EvaluationRecord* record);

 private:
  struct TimedCase {
    const evaluator::PlannedRun* run = nullptr;
    CalledBaseline before, after;
    double reference_ns = 0;
    CallTimes least;          // times of one empty call
    std::uint32_t calls = 1;  // calls per sample
    std::vector<CallTimes> samples;
  };

  CalledBaseline baseline_of(const TimedCase& timed, bool may_be_recent);
  CalledBaseline measured_baseline(const TimedCase& timed, std::uint32_t calls);
  double time_baseline(const TimedCase& timed, std::uint32_t calls);
  CallTimes least_of(const TimedCase& timed, std::uint32_t calls);
  std::uint32_t calls_of(const BufferSet& buffers, double ns) const;
  void load_in_checker(const GpuCandidate& kernel);

  bool time_calls(const GpuCandidate& candidate, const TimingSettings& settings, TimedCase* timed,
                  evaluator::EvaluationRecord* record);
  std::optional<CallTimes> sample(const GpuCandidate& candidate, const TimedCase& timed,
                                  LaunchCheck* check, evaluator::EvaluationRecord* record);
  void report(TimedCase* timed, evaluator::EvaluationRecord* record);

  Gpu& gpu_;
  const evaluator::PreparedTask& task_;
  const GpuBaseline baseline_;
  std::vector<TimedCase> cases_;
  // The candidate whose code is loaded there; null: unknown.
  const GpuCandidate* in_checker_ = nullptr;
  std::mt19937_64 random_;
};

}  // namespace krl::cuda
