// The evaluation of candidates by NVRTC without running them: static checks, compile, and what the
// compiled code says of each kernel. Thread-safe; a call blocks until its evaluation is done, and
// identical ones at the same time are done once.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "plugins/backends/cuda/compute_capability.hpp"
#include "plugins/backends/cuda/cubin.hpp"
#include "plugins/backends/cuda/resource_report.hpp"
#include "plugins/backends/evaluator/cache/evaluation_cache.hpp"
#include "plugins/backends/evaluator/check/case_data.hpp"
#include "plugins/backends/evaluator/compile/compile_worker.hpp"
#include "plugins/backends/evaluator/evaluation_request.hpp"
#include "plugins/backends/evaluator/source/launch_schedule.hpp"

namespace krl {

struct NvrtcSettings {
  std::string arch;                // "sm_90"
  std::vector<std::string> flags;  // more options of NVRTC's
  std::filesystem::path cuda;      // where to find it; empty = the usual places
  std::chrono::milliseconds compile_limit{10'000};
  std::uint64_t memory_bytes = std::uint64_t{4} << 30;
  std::filesystem::path cache_folder;  // empty: nothing is kept on disk
  std::uint64_t cache_bytes = std::uint64_t{1} << 30;
};

class NvrtcEvaluator {
 public:
  // Throws Failure(KRL_FAILED_PRECONDITION, KRL_INVALID_ARGUMENT): no NVRTC, an unknown arch.
  explicit NvrtcEvaluator(NvrtcSettings settings);

  // Throws Failure for trouble of our own, as krl::Backend::evaluate does.
  EvaluationRecord evaluate(const EvaluationRequest& request, const Cancelled& cancelled);

  // Throws Failure(KRL_INVALID_ARGUMENT) if the task cannot be used, or its naive kernel does not
  // compile.
  void prepare(const EvaluationRequest& naive, const Cancelled& cancelled);

  const std::string& toolchain() const { return toolchain_; }

 private:
  // A kernel as compiled code and ptxas' report have it.
  struct Kernel {
    CubinKernel code;
    KernelResources resources;
  };

  EvaluationRecord evaluate_new(const PreparedTask& task, const EvaluationRequest& request,
                                const Cancelled& cancelled) const;
  void add_kernels(const PreparedTask& task, const LaunchSchedule& schedule,
                   const std::string& module, EvaluationRecord* record) const;
  void add_kernel(const std::string& name, const Kernel& kernel, const PreparedTask& task,
                  const LaunchSchedule& schedule, EvaluationRecord* record) const;

  const NvrtcSettings settings_;
  const ComputeCapability& gpu_;
  CompileWorkerOptions worker_;  // its steps lack the kernels' names
  std::string toolchain_;        // "NVRTC 13.0"
  std::string identity_;         // of everything but the request that decides an evaluation
  TaskStore tasks_;
  EvaluationCache evaluations_;
};

}  // namespace krl
