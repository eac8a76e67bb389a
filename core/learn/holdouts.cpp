#include "core/learn/holdouts.hpp"

#include <fmt/format.h>

#include <map>

#include "core/learn/rollout_metrics.hpp"

namespace krl {
namespace {

// The fastest right turn of every task.
std::map<const Task*, const TurnRecord*> best_turns(const std::vector<Episode>& episodes) {
  std::map<const Task*, const TurnRecord*> best;
  for (const Episode& episode : episodes) {
    for (const TurnRecord& turn : episode.turns) {
      if (!turn.evaluation.passed()) continue;
      const TurnRecord*& known = best[episode.task];
      if (known == nullptr || turn.evaluation.speedup() > known->evaluation.speedup())
        known = &turn;
    }
  }
  return best;
}

}  // namespace

Status measure_tasks(const std::vector<Holdout>& holdouts, const RolloutContext& context,
                     const std::vector<std::string>& terms, Metrics& metrics) {
  for (const Holdout& holdout : holdouts) {
    std::vector<const Task*> tasks;
    for (const Task& task : holdout.tasks) tasks.push_back(&task);
    KRL_ASSIGN(const RolloutResult rollout, run_rollout(tasks, context));
    constexpr std::string_view kKernel = "kernel/";
    for (const auto& [name, value] : rollout_metrics(rollout.episodes, terms, 1)) {
      if (!name.starts_with(kKernel)) continue;
      metrics[fmt::format("holdout/{}/{}", holdout.name, name.substr(kKernel.size()))] = value;
    }
  }
  return {};
}

Status measure_shapes(const std::vector<Episode>& episodes, const RolloutContext& context,
                      Metrics& metrics) {
  double kernels = 0, wrong = 0;
  for (const auto& [task, turn] : best_turns(episodes)) {
    KRL_ASSIGN(const Evaluated evaluated,
               context.evaluations.evaluate(*task, turn->candidate, context.iteration,
                                            Shapes::kWithHoldout));
    if (evaluated.evaluation.infra_error()) continue;
    ++kernels;
    wrong += evaluated.evaluation.passed() ? 0 : 1;
  }
  if (kernels > 0) metrics["kernel/regressions_holdout"] = wrong / kernels;
  return {};
}

}  // namespace krl
