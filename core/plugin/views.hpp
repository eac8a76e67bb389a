// The C forms of the core's values, as plugins read them. Each borrows from the value it was made
// of.
#pragma once

#include <kernelrl/abi.h>

#include "core/plugin/rows.hpp"
#include "core/task/evaluation.hpp"
#include "core/task/task.hpp"

namespace krl {

krl_task view_of(const Task& task);

// Owns the arrays that krl_evaluation points into.
class EvaluationView {
 public:
  explicit EvaluationView(const Evaluation& evaluation);
  EvaluationView(const EvaluationView&) = delete;
  EvaluationView& operator=(const EvaluationView&) = delete;

  const krl_evaluation* c() const { return &c_; }

 private:
  Rows<krl_diagnostic> diagnostics_;
  Rows<krl_kernel> kernels_;
  Rows<krl_case> cases_;
  Rows<krl_value> values_;
  krl_evaluation c_;
};

}  // namespace krl
