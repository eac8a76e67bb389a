// Turns the runs of an evaluation into verdicts of its cases. Pure.
#pragma once

#include <cstddef>
#include <string>

#include "plugins/backends/evaluator/check/case_data.hpp"
#include "plugins/backends/evaluator/check/run_plan.hpp"
#include "plugins/backends/evaluator/evaluation_record.hpp"

namespace krl::evaluator {

// One run against its expected values.
struct RunVerdict {
  bool passed = true;
  std::string detail;                           // the first wrong elements; empty if it passed
  double max_abs_error = 0, max_rel_error = 0;  // infinity where they would reveal the right value

  // Adds what became of one output.
  void add(const ResolvedTensor& output, const Comparison& comparison,
           Telling telling = Telling::kValues);
  // Records that `count` elements, beginning at `first`, were never written, which is wrong
  // whichever values are expected there.
  void add_unwritten(const ResolvedTensor& output, std::int64_t first, std::int64_t count);
};

// The first `count` cases, all passed so far.
std::vector<Case> untried_cases(const PreparedTask& task, std::size_t count);

// Returns the case's name for an evaluation's `why`: "n=7", or "n=7 (fresh)" for a fresh shape.
std::string named(const Case& c);

// Adds a run to its case.
void merge(const RunVerdict& run, const PlannedRun& plan, Case* c);

// Gives the verdict to a case that is not run because an earlier one failed with it.
void leave_out(Case* c, Verdict verdict);

// Ends the evaluation in the middle of case `stopped`: it and those after it that have not failed
// get the verdict.
void stop(std::size_t stopped, Verdict verdict, const std::string& why, EvaluationRecord* record);

}  // namespace krl::evaluator
