// Evaluates candidates for a CUDA backend: static checks, compile, properties of the compiled
// kernels, and, on a GPU, correctness and speed. Thread-safe; a call blocks until its evaluation is
// done, and identical concurrent ones are done once.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plugins/backends/compiled/compiled_module.hpp"
#include "plugins/backends/compiled/compute_capability.hpp"
#include "plugins/backends/cuda/gpu/gpu_pool.hpp"
#include "plugins/backends/cuda/gpu/timing.hpp"
#include "plugins/backends/evaluator/cache/evaluation_cache.hpp"
#include "plugins/backends/evaluator/check/case_data.hpp"
#include "plugins/backends/evaluator/check/evaluation_plan.hpp"
#include "plugins/backends/evaluator/compile/cuda_compiler.hpp"
#include "plugins/backends/evaluator/evaluation_request.hpp"
#include "plugins/backends/evaluator/source/launch_schedule.hpp"
#include "plugins/backends/ptx/module.hpp"

namespace krl::cuda {

// The baseline of speedups.
struct BaselineSettings {
  bool reference = false;                      // the task's reference, as libtorch runs it
  std::map<std::string, std::string> kernels;  // by task: replaces its naive kernel
};

// The kernels TASK.cu of a folder. Throws Failure(KRL_INVALID_ARGUMENT) if it has none.
std::map<std::string, std::string> baselines_in(const std::filesystem::path& folder);

struct CudaSettings {
  std::size_t runs_per_case = 5;  // each with a separate seed
  Sizes sizes = Sizes::kReal;
  Protocol protocol = Protocol::kKernelrl;
  TimingSettings timing;
  std::string libraries;  // libraries that host code may load; empty: none
  BaselineSettings baseline;
  std::filesystem::path cache_folder;  // empty: nothing is kept on disk
  std::uint64_t cache_bytes = std::uint64_t{1} << 30;
};

class CudaEvaluator {
 public:
  // `gpus`: null: candidates are compiled and not run.
  CudaEvaluator(CudaCompiler compiler, const CudaSettings& settings, std::unique_ptr<GpuPool> gpus);

  // Throws Failure for infrastructure errors, as krl::Backend::evaluate does.
  EvaluationRecord evaluate(const EvaluationRequest& request, const Cancelled& cancelled);

  // Throws Failure(KRL_INVALID_ARGUMENT) if the task cannot be used: its reference is wrong, or its
  // naive kernel is.
  void prepare(const EvaluationRequest& naive, const Cancelled& cancelled);

  bool takes_host() const { return compiler_.compile_library != nullptr; }
  const std::string& toolchain() const { return compiler_.name; }
  const std::string& device() const { return device_; }  // "NVIDIA H200"; "sm_90, not executed"
  std::size_t gpus() const { return gpus_ ? gpus_->size() : 0; }
  // Explains to people why evaluations have no hardware counters; empty if they have.
  const std::string& counters_problem() const { return counters_problem_; }

 private:
  // A source that compiled, and its launches.
  struct Built {
    LaunchSchedule schedule;
    CompiledModule module;
    ptx::Module code;  // code of the kernels; empty for a library
  };

  // A task's, with the digest of its code.
  struct Baseline {
    Built built;
    std::string digest;
  };

  // Evaluates through the cache, for any stages.
  EvaluationRecord evaluate_once(const EvaluationRequest& request, const Cancelled& cancelled);
  // Begins again where someone kills the processes that an evaluation needs.
  EvaluationRecord evaluate_patiently(const EvaluationRequest& request, const Cancelled& cancelled);
  EvaluationRecord evaluate_new(const PreparedTask& task, const EvaluationRequest& request,
                                const Cancelled& cancelled);
  std::optional<Built> build(const PreparedTask& task, std::string_view source, std::size_t cases,
                             const Cancelled& cancelled, EvaluationRecord* record);
  // `whole`: with the call by the harness.
  std::optional<Built> build_library(const std::string& whole, const Cancelled& cancelled,
                                     EvaluationRecord* record);
  std::shared_ptr<const CompileOutput> compiled(std::string_view source,
                                                const std::vector<std::string>& kernels,
                                                const Cancelled& cancelled);
  // Returns null if no naive kernel can serve as the baseline.
  std::shared_ptr<const Baseline> naive(const PreparedTask& task, const Cancelled& cancelled);
  std::shared_ptr<const Baseline> baseline(const PreparedTask& task, const Cancelled& cancelled);
  std::shared_ptr<const Baseline> built_kernel(const PreparedTask& task, const std::string& source,
                                               const std::string& what, const Cancelled& cancelled);
  void execute(const PreparedTask& asked, Built candidate, const EvaluationRequest& request,
               const Cancelled& cancelled, EvaluationRecord* record);
  std::vector<PlannedRun> plan(const PreparedTask& asked, const EvaluationRequest& request) const;

  const CudaCompiler compiler_;
  const CudaSettings settings_;
  const std::unique_ptr<GpuPool> gpus_;
  const ComputeCapability& gpu_;
  const std::string device_;
  const std::string counters_problem_;
  const std::string identity_;  // covers everything but the request that decides an evaluation
  TaskStore tasks_;
  MemoryCache<CompileOutput> modules_;
  MemoryCache<Baseline> baselines_;
  EvaluationCache evaluations_;
};

}  // namespace krl::cuda
