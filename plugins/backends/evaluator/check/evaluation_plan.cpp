#include "plugins/backends/evaluator/check/evaluation_plan.hpp"

#include <algorithm>

#include "plugins/backends/evaluator/check/case_verdicts.hpp"

namespace krl::evaluator {
namespace {

bool is_exact(const TaskDefinition& task) {
  const bool is_whole = std::none_of(task.outputs.begin(), task.outputs.end(),
                                     [](const auto& output) { return is_floating(output.dtype); });
  return is_whole || (task.tolerance.atol == 0 && task.tolerance.rtol == 0);
}

std::int64_t outputs_of(const ResolvedCase& shape) {
  std::int64_t elements = 0;
  for (const ResolvedTensor& tensor : shape.tensors)
    elements += tensor.is_output ? tensor.elements : 0;
  return elements;
}

}  // namespace

// Exponentials of values far from 0 have few digits left, whichever order a right kernel computes
// them in, and the inverse of a subnormal number is infinite. If inputs are multiplied with each
// other, the same holds for any large products, and transforms spread one large value over its
// neighbours.
Distribution suited(Distribution distribution, const TaskDefinition& task) {
  const bool multiplies = !task.work.operations.empty(), exact = is_exact(task);
  if (distribution == Distribution::kSubnormal && !exact) return Distribution::kSmall;
  if (distribution == Distribution::kLarge && multiplies) return Distribution::kHundredfold;
  if (distribution == Distribution::kRare && multiplies) return Distribution::kOddHalves;
  if (distribution == Distribution::kBelow && !exact) distribution = Distribution::kOffset;
  const bool is_far = distribution == Distribution::kBelow || distribution == Distribution::kOffset;
  return is_far && multiplies ? Distribution::kHundredth : distribution;
}

std::vector<PlannedRun> plan_evaluation(const PreparedTask& asked, std::size_t runs_per_case,
                                        const RunSeeds& seeds) {
  if (asked.protocol == Protocol::kKernelBench) return plan_kernelbench(asked, seeds);
  std::vector<PlannedRun> runs;
  const bool real = asked.n_real > 0;
  std::size_t dealt = 0;
  for (PlannedRun run : plan_runs(asked.n_small(), asked.n_holdouts, runs_per_case, seeds)) {
    dealt += run.counted ? 0 : 1;
    if (run.case_index >= asked.n_small()) run.case_index += asked.n_real;
    run.counted = run.counted && !real;
    runs.push_back(run);
  }
  const auto holdouts = std::find_if(runs.begin(), runs.end(), [&](const PlannedRun& run) {
    return run.case_index >= asked.n_cases;
  });
  std::vector<PlannedRun> at_real_size;
  for (PlannedRun run : plan_counted(asked.n_real, seeds.shared)) {
    run.case_index += asked.n_small();
    at_real_size.push_back(run);
    at_real_size.push_back(plan_at_real_size(run, seeds));
  }
  runs.insert(holdouts, at_real_size.begin(), at_real_size.end());
  std::vector<FreshShape> fresh;
  for (std::size_t c = asked.n_known(); c < asked.cases.size(); ++c)
    fresh.push_back(
        {c, asked.cases[c].label, elements_of(asked.cases[c]), outputs_of(asked.cases[c])});
  const std::vector<PlannedRun> further = plan_fresh(fresh, dealt, seeds);
  runs.insert(runs.end(), further.begin(), further.end());
  for (PlannedRun& run : runs) run.distribution = suited(run.distribution, asked.definition);
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
