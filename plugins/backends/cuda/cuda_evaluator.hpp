// The evaluation of candidates by a CUDA backend: static checks, compile, what the compiled code
// says of each kernel. Thread-safe; a call blocks until its evaluation is done, and identical ones
// at the same time are done once.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "plugins/backends/cuda/compute_capability.hpp"
#include "plugins/backends/cuda/cuda_compiler.hpp"
#include "plugins/backends/evaluator/cache/evaluation_cache.hpp"
#include "plugins/backends/evaluator/check/case_data.hpp"
#include "plugins/backends/evaluator/evaluation_request.hpp"
#include "plugins/backends/evaluator/source/launch_schedule.hpp"

namespace krl {

struct CudaSettings {
  std::filesystem::path cache_folder;  // empty: nothing is kept on disk
  std::uint64_t cache_bytes = std::uint64_t{1} << 30;
};

class CudaEvaluator {
 public:
  CudaEvaluator(CudaCompiler compiler, const CudaSettings& settings);

  // Throws Failure for trouble of our own, as krl::Backend::evaluate does.
  EvaluationRecord evaluate(const EvaluationRequest& request, const Cancelled& cancelled);

  // Throws Failure(KRL_INVALID_ARGUMENT) if the task cannot be used, or its naive kernel does not
  // compile.
  void prepare(const EvaluationRequest& naive, const Cancelled& cancelled);

  const std::string& toolchain() const { return compiler_.name; }
  std::string device() const { return compiler_.arch + ", not executed"; }

 private:
  EvaluationRecord evaluate_new(const PreparedTask& task, const EvaluationRequest& request,
                                const Cancelled& cancelled) const;

  const CudaCompiler compiler_;
  const ComputeCapability& gpu_;
  const std::string identity_;  // of everything but the request that decides an evaluation
  TaskStore tasks_;
  EvaluationCache evaluations_;
};

}  // namespace krl
