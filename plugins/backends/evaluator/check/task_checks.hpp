// Checks that a task is suitable for learning: its naive kernel must be right, its expected outputs
// must be finite, and trivial outputs must fail, since they would be rewarded.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "plugins/backends/evaluator/check/case_data.hpp"
#include "plugins/backends/evaluator/evaluation_record.hpp"

namespace krl::evaluator {

// Outputs that are made up without doing the work.
struct Impostor {
  enum Kind {
    kZero,  // tried on values as given only: a wide tolerance is narrow for values times 100
    kMean,  // writes the mean of an output's expected values in all runs everywhere
    kCopy,  // copies an input of the output's type and number of elements
  };
  Kind kind = kZero;
  std::size_t which = 0;  // the output that is all zero, the input that is copied

  // Does the output count for it? Zeros are tried as each by itself, the others as all at once.
  bool is_tried_as(std::size_t output) const { return kind != kZero || which == output; }
};

// Does the run count for the impostor?
bool is_tried(const Impostor& impostor, const PlannedRun& run);

// Tries all impostors. `passes`: returns true if one would be right in every run of an evaluation
// in which, and as every output as which, it is tried. Throws Failure(KRL_INVALID_ARGUMENT,
// "file:line:column: …") if one would.
void refuse_impostors(const TaskDefinition& task,
                      const std::function<bool(const Impostor&)>& passes);

// An executor's answers about a task's reference.
struct ReferenceProbe {
  std::function<void(const PlannedRun&)> expect;  // computes the expected outputs of a run
  std::function<std::vector<OutputTraits>(const PlannedRun&)> traits;  // describes its outputs
  // As for refuse_impostors, in these runs.
  std::function<bool(const std::vector<PlannedRun>&, const Impostor&)> passes;
};

// Runs the reference in the runs of an evaluation, and holds made-up outputs against it in those of
// the small cases. Throws Failure(KRL_INVALID_ARGUMENT, "file:line:column: …") if an impostor
// passes, or if an output of a run with inputs as given, or of a case that is run once, is not finite
// anywhere, or zeros are right there because of the tolerance. Few elements may be either by chance:
// that is refused only if it happens with every one of several seeds.
void check_reference(const PreparedTask& task, std::vector<PlannedRun> runs,
                     const ReferenceProbe& probe);

// Throws Failure(KRL_INVALID_ARGUMENT, "file:line:column: …") if the evaluation of the task's naive
// kernel did not end well.
void require_right_naive(const TaskDefinition& task, const EvaluationRecord& naive);

}  // namespace krl::evaluator
