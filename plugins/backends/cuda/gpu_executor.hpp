// Runs candidates on GPUs: correctness and speed. Thread-safe; an evaluation has a GPU to itself.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plugins/backends/cuda/gpu/gpu_pool.hpp"
#include "plugins/backends/cuda/gpu/timing.hpp"
#include "plugins/backends/evaluator/evaluator.hpp"

namespace krl::cuda {

// The baseline of speedups.
struct BaselineSettings {
  bool reference = false;                      // the task's reference, as libtorch runs it
  std::map<std::string, std::string> kernels;  // by task: replaces its naive kernel
};

// The kernels TASK.cu of a folder. Throws Failure(KRL_INVALID_ARGUMENT) if it has none.
std::map<std::string, std::string> baselines_in(const std::filesystem::path& folder);

struct GpuExecutorSettings {
  TimingSettings timing = {};
  std::string libraries = {};  // libraries that host code may load; empty: none
  BaselineSettings baseline = {};
};

class GpuExecutor final : public evaluator::Executor {
 public:
  // `gpus`: null: candidates are compiled for `arch` and not run.
  GpuExecutor(GpuExecutorSettings settings, const std::string& arch, std::unique_ptr<GpuPool> gpus);

  const std::string& device() const override { return device_; }  // or "sm_90, not executed"
  std::string identity(const evaluator::CudaCompiler& compiler,
                       const evaluator::EvaluatorSettings& settings) const override;
  bool runs() const override { return gpus_ != nullptr; }
  std::size_t gpus() const { return gpus_ ? gpus_->size() : 0; }
  // Explains to people why evaluations have no hardware counters; empty if they have.
  const std::string& counters_problem() const { return counters_problem_; }

  // Begins again where someone kills the processes that an evaluation needs.
  evaluator::EvaluationRecord patiently(
      const std::function<evaluator::EvaluationRecord()>& evaluate,
      const evaluator::Cancelled& cancelled) override;
  bool build_host(evaluator::Attempt* attempt) override;
  void examine(const evaluator::Attempt& attempt) override;
  void execute(const evaluator::Attempt& attempt) override;
  void check_reference(const evaluator::PreparedTask& task, std::vector<evaluator::PlannedRun> runs,
                       const evaluator::Cancelled& cancelled) override;

 private:
  // A kernel of the task or the plan, with the digest of its code.
  struct Baseline {
    evaluator::Built built;
    std::string digest;
  };

  // Return null if no kernel can serve.
  std::shared_ptr<const Baseline> naive(const evaluator::Attempt& attempt);
  std::shared_ptr<const Baseline> baseline(const evaluator::Attempt& attempt);
  std::shared_ptr<const Baseline> built_kernel(const evaluator::Attempt& attempt,
                                               const std::string& source, const std::string& what);

  const GpuExecutorSettings settings_;
  const std::unique_ptr<GpuPool> gpus_;
  const std::string device_;
  const std::string counters_problem_;
  evaluator::MemoryCache<Baseline> baselines_;
};

}  // namespace krl::cuda
