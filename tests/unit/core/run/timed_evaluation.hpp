// An evaluation of one case that passed with this speedup.
#pragma once

#include <kernelrl/evaluation.hpp>

namespace krl::test {

inline Evaluation timed_evaluation(double speedup) {
  Evaluation evaluation;
  evaluation.verdict = Verdict::kOk;
  evaluation.cases.emplace_back().speedup_low = speedup;
  return evaluation;
}

}  // namespace krl::test
