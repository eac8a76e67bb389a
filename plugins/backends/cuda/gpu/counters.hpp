// Hardware counters of correct candidates, read by CUPTI in a GPU's profiler process, which is
// started when first needed and replaced when it fails, or by Nsight Compute's ncu. Counters never
// affect the verdict: without them an evaluation is unchanged. Used by one thread at a time, like
// its Gpu.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plugins/backends/cuda/gpu/gpu_candidate.hpp"
#include "plugins/backends/cuda/gpu/ncu/ncu_profiler.hpp"
#include "plugins/backends/cuda/worker/counters/counter.hpp"
#include "plugins/backends/evaluator/check/run_plan.hpp"
#include "plugins/backends/evaluator/evaluation_record.hpp"
#include "plugins/process/conversation.hpp"

namespace krl::cuda {

// The arguments with which a profiler is started.
struct ProfilerStart {
  std::string program;  // kernelrl-gpu-profiler, or ncu; empty = no counters are wanted
  std::string runner;   // under ncu: kernelrl-gpu-runner; empty = it is not ncu
  std::vector<std::string> environment;
  gpu::Setup setup;
  // Limit of one run of a candidate; a reading takes several runs.
  std::chrono::milliseconds run_limit{10'000};
  double bandwidth = 0;  // memory bandwidth of the GPU, B/s
};

class Counters {
 public:
  explicit Counters(ProfilerStart start);

  // Explains to people why there are no counters and what to do about it; empty if they work. The
  // first call starts the profiler, which takes about a second, and decides.
  const std::string& problem();

  // Profiles the counted run of each case that is not a hold-out and adds the values of
  // metrics.hpp, and with ncu those of ncu_metrics.hpp, per case; for timed cases also
  // bandwidth_fraction, alias dram_utilisation: dram_bytes over the bytes that the memory could
  // move in that time. If a profiler fails twice, the record has no counters, a note with the
  // reason, and is not kept.
  void add(const GpuCandidate& candidate, const std::vector<evaluator::PlannedRun>& runs,
           evaluator::EvaluationRecord* record);

 private:
  using OfRuns = std::vector<std::vector<gpu::Counter>>;

  // Each returns false, or no value, after a failure: failure_ has the reason, and the profiler is
  // gone.
  bool start();
  std::optional<OfRuns> count(const gpu::Load& load, const std::vector<gpu::Run>& runs);
  std::optional<OfRuns> count_by_ncu(const gpu::Load& load, const std::vector<gpu::Run>& runs);
  std::optional<nlohmann::json> ask(const char* kind, const nlohmann::json& request,
                                    std::chrono::milliseconds limit);
  void add_values(std::size_t case_index, const std::vector<gpu::Counter>& counters,
                  evaluator::EvaluationRecord* record) const;

  const ProfilerStart start_;
  std::optional<std::string> problem_;  // from the first start
  std::optional<NcuProfiler> ncu_;
  std::unique_ptr<process::Conversation> profiler_;  // reads counters by CUPTI
  gpu::ProfilerReady ready_;
  std::string failure_;  // the last one
};

}  // namespace krl::cuda
