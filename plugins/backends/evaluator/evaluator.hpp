// Evaluates candidates, for any compiler and executor, from source to record: static checks, compile,
// properties of the compiled kernels, and what running them shows. Thread-safe; a call blocks until
// its evaluation is done, and identical concurrent ones are done once.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "plugins/backends/evaluator/cache/evaluation_cache.hpp"
#include "plugins/backends/evaluator/executor.hpp"

namespace krl::evaluator {

class Evaluator {
 public:
  Evaluator(EvaluatorSettings settings, CudaCompiler compiler, std::unique_ptr<Executor> executor);

  // Throws Failure for infrastructure errors, as krl::Backend::evaluate does.
  EvaluationRecord evaluate(const EvaluationRequest& request, const Cancelled& cancelled);

  // Throws Failure(KRL_INVALID_ARGUMENT, "file:line:column: …") if the task cannot be used: its
  // reference is wrong, or its naive kernel is.
  void prepare(std::string_view definition_json, std::uint64_t seed, const Cancelled& cancelled);

  const std::string& toolchain() const { return builder_.compiler().name; }
  const std::string& device() const { return executor_->device(); }
  bool takes_host() const { return builder_.compiler().compile_library != nullptr; }

 private:
  EvaluationRecord evaluate_once(const EvaluationRequest& request, const Cancelled& cancelled);
  EvaluationRecord evaluate_anew(const EvaluationRequest& request, const Cancelled& cancelled);
  EvaluationRecord attempt(const PreparedTask& task, const EvaluationRequest& request,
                           const Cancelled& cancelled);
  bool build(Attempt* attempt);
  std::vector<PlannedRun> plan(const PreparedTask& asked, const EvaluationRequest& request) const;

  const EvaluatorSettings settings_;
  const std::unique_ptr<Executor> executor_;
  CandidateBuilder builder_;
  const std::string identity_;
  TaskStore tasks_;
  EvaluationCache evaluations_;
};

}  // namespace krl::evaluator
