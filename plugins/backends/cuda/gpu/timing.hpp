// Times a candidate of device code on the GPU against a baseline, in pairs, with a cold L2.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "plugins/backends/cuda/gpu/gpu.hpp"
#include "plugins/backends/cuda/gpu/gpu_candidate.hpp"
#include "plugins/backends/evaluator/check/run_plan.hpp"
#include "plugins/backends/evaluator/evaluation_record.hpp"

namespace krl::cuda {

struct TimingSettings {
  double target = 0.01;     // a case is done at this half-width of the log ratio's interval
  std::size_t fewest = 16;  // samples of each
  std::size_t most = 200;
  std::chrono::milliseconds limit{60};  // time that the samples of a case may take
  // One disturbed sample among eight moves a bound far. An interval whose half-width is above
  // `disturbed` therefore gets more samples, until it is narrower or the second limit is reached.
  double disturbed = 0.05;
  std::chrono::milliseconds limit_if_disturbed{300};

  // True if a case that has been sampled for `spent` may end with an interval of this half-width.
  bool is_enough(double half_width, std::chrono::nanoseconds spent) const {
    return half_width < target || spent >= (half_width > disturbed ? limit_if_disturbed : limit);
  }
};

// Standard difference between the logarithms of the times of the same code from one loading to the
// next: on an H200 0.002 at the median, 0.005 in one of ten. With it, the 90 % interval of the
// samples contains the true value in more than 95 % of cases
// (bench/results/gpu.md).
inline constexpr double kLoadError = 0.004;

// The baseline of a candidate's times; none by default.
struct GpuBaseline {
  const GpuCandidate* kernel = nullptr;  // timed as the candidate is
  bool reference = false;                // the task's, by libtorch: one call a sample
  std::string digest = {};  // digest of the kernel's code, the key of its measured times
  // The task's own kernel, which passes: timed launches are compared with its results; null: with
  // the reference.
  const GpuCandidate* trusted = nullptr;

  bool exists() const { return kernel != nullptr || reference; }
};

// Returns how long a run of a candidate may take if the task's own kernel is trusted to end: a
// second, and 100 times as long as that kernel takes in the slowest of the timed cases. Measured
// once per task, in the checker. Throws as Gpu::ask_checker does.
std::chrono::milliseconds run_limit(Gpu& gpu, const GpuCandidate& trusted,
                                    const std::vector<evaluator::PlannedRun>& runs);

// Times a candidate that has passed in each of the counted cases, and fills in the cases'
// times, speedups and samples. `runs`: that it passed. The outputs of every launch that counts are
// checked. A candidate that is faster than light or than an empty launch, or wrong when it is timed
// alone, is flagged. Throws as check_on_gpu does.
void time_on_gpu(Gpu& gpu, const GpuCandidate& candidate, const GpuBaseline& baseline,
                 const std::vector<evaluator::PlannedRun>& runs, const TimingSettings& settings,
                 evaluator::EvaluationRecord* record);

}  // namespace krl::cuda
