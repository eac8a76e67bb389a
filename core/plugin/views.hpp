// The C forms of the core's values, as plugins read them. Each borrows from the value it was made
// of.
#pragma once

#include <kernelrl/abi.h>

#include <vector>

#include "core/task/evaluation.hpp"
#include "core/task/task.hpp"

namespace krl {

krl_task view_of(const Task& task);

// Owns the arrays that krl_evaluation points into; not copyable, since those pointers lead into the
// object.
class EvaluationView {
 public:
  explicit EvaluationView(const Evaluation& evaluation);
  EvaluationView(const EvaluationView&) = delete;
  EvaluationView& operator=(const EvaluationView&) = delete;

  const krl_evaluation* c() const { return &c_; }

 private:
  std::vector<krl_diagnostic> diagnostics_;
  std::vector<krl_kernel> kernels_;
  std::vector<krl_case> cases_;
  std::vector<krl_value> values_;
  std::vector<const krl_diagnostic*> diagnostic_pointers_;
  std::vector<const krl_kernel*> kernel_pointers_;
  std::vector<const krl_case*> case_pointers_;
  std::vector<const krl_value*> value_pointers_;
  krl_evaluation c_;
};

}  // namespace krl
