#include "plugins/backends/evaluator/check/evaluation_plan.hpp"

#include <algorithm>

#include "plugins/backends/evaluator/check/case_verdicts.hpp"

namespace krl::evaluator {

std::vector<PlannedRun> plan_evaluation(const PreparedTask& asked, std::size_t runs_per_case,
                                        const RunSeeds& seeds) {
  if (asked.protocol == Protocol::kKernelBench) return plan_kernelbench(asked, seeds);
  std::vector<PlannedRun> runs;
  const bool real = asked.n_real > 0;
  for (PlannedRun run : plan_runs(asked.n_small(), asked.n_holdouts, runs_per_case, seeds)) {
    if (run.case_index >= asked.n_small()) run.case_index += asked.n_real;
    run.counted = run.counted && !real;
    runs.push_back(run);
  }
  const auto holdouts = std::find_if(runs.begin(), runs.end(), [&](const PlannedRun& run) {
    return run.case_index >= asked.n_cases;
  });
  std::vector<PlannedRun> at_real_size;
  for (PlannedRun run : plan_runs(asked.n_real, 0, 1, seeds)) {
    run.case_index += asked.n_small();
    at_real_size.push_back(run);
    // Among many terms exact inputs alone show that one is missing; all candidates share them, as
    // they cost time here.
    run = {run.case_index, mix_seed(run.seed, "halves"), Distribution::kOddHalves,
           RunOrder::kShuffled, false};
    at_real_size.push_back(run);
  }
  runs.insert(holdouts, at_real_size.begin(), at_real_size.end());
  for (std::size_t c = asked.n_known(); c < asked.cases.size(); ++c)
    runs.push_back(plan_fresh_run(c, asked.cases[c].label, seeds));
  return runs;
}

void settle_fresh_cases(const PreparedTask& asked, const Obstacles& obstacles,
                        EvaluationRecord* record) {
  const auto fresh = record->cases.begin() + static_cast<std::ptrdiff_t>(asked.n_known());
  const auto shown_end = record->cases.begin() + static_cast<std::ptrdiff_t>(asked.n_cases);
  const bool shown_failed = std::any_of(record->cases.begin(), shown_end,
                                        [](const Case& c) { return c.verdict != Verdict::kOk; });
  if (shown_failed) {
    record->cases.erase(fresh, record->cases.end());
    return;
  }
  for (const auto& [c, why] : obstacles) {
    Case& found = record->cases[c];
    found.verdict = Verdict::kLaunchError;
    found.detail = why;
    record->fail(Verdict::kLaunchError, named(found) + ": " + why);
  }
}

}  // namespace krl::evaluator
