// An evaluation under way in a backend of ours.
#pragma once

#include <kernelrl/evaluation.hpp>
#include <string>
#include <utility>

namespace krl::evaluator {

struct EvaluationRecord : Evaluation {
  EvaluationRecord() { verdict = Verdict::kOk; }
  explicit EvaluationRecord(Evaluation known) : Evaluation(std::move(known)) {}

  // A function of candidate and options alone. False where a clock decided: such an evaluation is
  // not kept.
  bool repeatable = true;

  // Sets the verdict once; later calls change nothing, as the first failure is what counts.
  void fail(Verdict failed_verdict, std::string reason) {
    if (verdict != Verdict::kOk) return;
    verdict = failed_verdict;
    why = std::move(reason);
  }
};

}  // namespace krl::evaluator
