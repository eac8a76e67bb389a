// Checks that a task is suitable for learning: its naive kernel must be right, and trivial outputs
// must fail, since they would be rewarded.
#pragma once

#include <cstddef>
#include <functional>

#include "plugins/backends/evaluator/check/case_data.hpp"
#include "plugins/backends/evaluator/evaluation_record.hpp"

namespace krl::evaluator {

// Outputs that are made up without doing the work.
struct Impostor {
  enum Kind {
    kZero,  // tried on values as given only: a wide tolerance is narrow for values times 100
    kMean,  // of an output's expected values in all runs, everywhere
    kCopy,  // of an input with the outputs' type and number of elements
  };
  Kind kind = kZero;
  std::size_t input = 0;  // of a copy
};

// Does the run count for the impostor?
bool is_tried(const Impostor& impostor, const PlannedRun& run);

// Tries them all: `passes` says whether one would be right as every output in every run of an
// evaluation in which it is tried. Throws Failure(KRL_INVALID_ARGUMENT, "file:line:column: …") if
// one would.
void refuse_impostors(const TaskDefinition& task,
                      const std::function<bool(const Impostor&)>& passes);

// Throws Failure(KRL_INVALID_ARGUMENT, "file:line:column: …") if the evaluation of the task's naive
// kernel did not end well.
void require_right_naive(const TaskDefinition& task, const EvaluationRecord& naive);

}  // namespace krl::evaluator
