// What is different where a candidate runs on shapes that nobody was shown: a launch that cannot
// happen there is no launch error of the others, and where a shown shape fails they do not count.
#include <algorithm>

#include "plugins/backends/cpu/plugin/cpu_evaluator.hpp"
#include "plugins/backends/cuda/kernel_figures.hpp"
#include "plugins/backends/evaluator/check/case_verdicts.hpp"

namespace krl {

CpuEvaluator::Obstacles CpuEvaluator::add_fresh_launches(const PreparedTask& asked,
                                                         std::string_view source,
                                                         const Compiled& module,
                                                         LaunchSchedule* schedule) const {
  Obstacles obstacles;
  PreparedTask one = asked;
  for (std::size_t c = asked.n_known(); c < asked.cases.size(); ++c) {
    one.cases = {asked.cases[c]};
    EvaluationRecord found;
    auto fresh = schedule_of(one, source, 1);
    if (fresh) {
      add_kernel_figures(one, *fresh, module.module, gpu_, compiler_.arch, &found);
      schedule->programs.push_back(std::move(fresh->programs.front()));
    } else {
      found.fail(KRL_VERDICT_LAUNCH_ERROR, described(fresh.error()));
      schedule->programs.emplace_back();
    }
    if (found.verdict != KRL_VERDICT_OK) obstacles.emplace(c, std::move(found.why));
  }
  return obstacles;
}

std::vector<PlannedRun> CpuEvaluator::plan(const PreparedTask& asked,
                                           const EvaluationRequest& request) const {
  const RunSeeds seeds = request.run_seeds(asked.digest);
  auto runs = plan_runs(asked.n_cases, asked.n_holdouts, settings_.runs_per_case, seeds);
  for (std::size_t c = asked.n_known(); c < asked.cases.size(); ++c)
    runs.push_back(plan_fresh_run(c, asked.cases[c].label, seeds));
  return runs;
}

void CpuEvaluator::settle_fresh_cases(const PreparedTask& asked, const Obstacles& obstacles,
                                      EvaluationRecord* record) {
  const auto fresh = record->cases.begin() + static_cast<std::ptrdiff_t>(asked.n_known());
  const bool known_failed = std::any_of(record->cases.begin(), fresh, [](const CaseRecord& c) {
    return c.verdict != KRL_VERDICT_OK;
  });
  if (known_failed) {
    record->cases.erase(fresh, record->cases.end());
    return;
  }
  for (const auto& [c, why] : obstacles) {
    CaseRecord& found = record->cases[c];
    found.verdict = KRL_VERDICT_LAUNCH_ERROR;
    found.detail = why;
    record->fail(KRL_VERDICT_LAUNCH_ERROR, named(found) + ": " + why);
  }
}

}  // namespace krl
