#include "core/learn/admission.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/base/log.hpp"
#include "core/learn/declared_metrics.hpp"

namespace krl::core {
namespace {

constexpr const char* kRefused = "best/refused";

// The kernels of a task that may become its best, fastest first.
struct Contenders {
  const Task* task = nullptr;
  std::vector<const TurnRecord*> turns;
  KernelIds refused = {};
};

std::vector<Contenders> contenders_in(const std::vector<Episode>& episodes,
                                      const std::map<std::string, double>& best) {
  std::map<std::string, Contenders> by_task;
  for (const Episode& episode : episodes) {
    const auto known = best.find(episode.task->id);
    for (const TurnRecord& turn : episode.turns) {
      const double speedup = turn.evaluation.speedup();
      const bool faster = known == best.end() || speedup > known->second;
      if (!turn.evaluation.passed() || !std::isfinite(speedup) || !faster) continue;
      Contenders& contenders = by_task[episode.task->id];
      contenders.task = episode.task;
      contenders.turns.push_back(&turn);
    }
  }
  std::vector<Contenders> list;
  for (auto& [task, contenders] : by_task) {
    std::ranges::stable_sort(contenders.turns, [](auto* a, auto* b) {
      return a->evaluation.speedup() > b->evaluation.speedup();
    });
    list.push_back(std::move(contenders));
  }
  return list;
}

// A first timing that was lucky must not hide a kernel that is truly faster.
constexpr int kMostTimedAgain = 3;

// Returns the fastest kernel by the second evaluation, with that one's figures, of those that pass
// it; nothing if none does.
Result<std::optional<BestKernel>> choose(Contenders& contenders, int iteration,
                                         const Evaluations& evaluations) {
  std::set<std::string_view> tried;
  std::optional<BestKernel> best;
  int passed = 0;
  for (const TurnRecord* turn : contenders.turns) {
    const bool slower = best && turn->evaluation.speedup() <= best->evaluation.speedup();
    if (slower || passed == kMostTimedAgain) break;
    if (!tried.insert(turn->candidate.source).second) continue;
    KRL_ASSIGN(const Evaluated second,
               evaluations.evaluate(*contenders.task, turn->candidate, iteration, Shapes::kAll));
    const Evaluation& evaluation = second.evaluation;
    if (evaluation.infra_error() || second.reused) continue;  // known: offered before, or refused
    if (evaluation.passed() && std::isfinite(evaluation.speedup())) {
      ++passed;
      if (!best || evaluation.speedup() > best->evaluation.speedup())
        best = BestKernel{contenders.task->id, iteration, turn->candidate.source, evaluation};
      continue;
    }
    contenders.refused.insert(identity_of(turn->candidate.source));
    log(Severity::kWarning,
        fmt::format(
            "{}: a kernel {:.2f} times as fast as the baseline is not accepted as the best one: {}: {}",
            contenders.task->id, turn->evaluation.speedup(), name_of(evaluation.verdict),
            evaluation.why));
  }
  return best;
}

}  // namespace

Result<TaskKernelIds> admit_best_kernels(int iteration, const std::vector<Episode>& episodes,
                                         const Evaluations& evaluations, BestKernels& best,
                                         Metrics& metrics) {
  std::vector<Contenders> contenders = contenders_in(episodes, best.speedups());
  std::vector<Result<std::optional<BestKernel>>> chosen(contenders.size());
  evaluations.side_by_side(contenders.size(), [&](std::size_t i) {
    chosen[i] = choose(contenders[i], iteration, evaluations);
  });
  TaskKernelIds refused;
  double count = 0;
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    KRL_ASSIGN(const std::optional<BestKernel> kernel, std::move(chosen[i]));
    if (kernel) KRL_TRY(best.offer(*kernel));
    count += static_cast<double>(contenders[i].refused.size());
    if (!contenders[i].refused.empty())
      refused[contenders[i].task->id] = std::move(contenders[i].refused);
  }
  metrics[kRefused] = count;
  return refused;
}

void declare_admission_metrics(MetricNames& names) { names.of_iterations.emplace_back(kRefused); }

}  // namespace krl::core
