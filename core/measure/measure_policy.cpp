#include "core/measure/measure_policy.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "core/episode/rollout_engine.hpp"
#include "core/measure/rollout_metrics.hpp"
#include "core/stage/task_preparation.hpp"

namespace krl::core {
namespace {

constexpr int kNoRound = 0;

std::vector<Group> groups_of(const std::vector<Task>& tasks, int round) {
  std::vector<Group> groups;
  for (const Task& task : tasks) groups.push_back({{round, groups.size()}, &task});
  return groups;
}

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

struct TaskKernel {
  const Task* task;
  Candidate candidate;
};

// Evaluates each kernel on the hold-out shapes of its task as well; several are evaluated at a
// time.
Result<std::vector<Evaluation>> with_holdout_shapes(const std::vector<TaskKernel>& kernels,
                                                    const Evaluations& evaluations, int round) {
  std::vector<Result<Evaluated>> results(kernels.size());
  evaluations.side_by_side(kernels.size(), [&](std::size_t i) {
    results[i] =
        evaluations.evaluate(*kernels[i].task, kernels[i].candidate, round, Shapes::kWithHoldout);
  });
  std::vector<Evaluation> found;
  for (Result<Evaluated>& result : results) {
    KRL_ASSIGN(Evaluated evaluated, std::move(result));
    found.push_back(std::move(evaluated.evaluation));
  }
  return found;
}

Result<Player> player_of(const Policy& policy) {
  KRL_ASSIGN(PolicyInfo info, policy.describe());
  const std::int64_t context = info.context_tokens;
  return Player{policy, std::move(info), nullptr, context};
}

class Measurer {
 public:
  Measurer(const MeasurementSetup& e, Player player)
      : how_(e),
        rollout_(e.settings.rollout),
        evaluations_(e.setup.judge(), e.run_seed, nullptr, e.settings.rollout.contract),
        player_(std::move(player)) {
    rollout_.group_size = e.samples;
  }

  Result<std::vector<Measurement>> run() {
    PreparedTasks prepared;
    KRL_TRY(prepare_tasks(how_.setup, evaluations_, prepared));
    std::vector<Measurement> sets;
    if (!how_.setup.data.tasks.empty()) {
      KRL_ASSIGN(sets.emplace_back(), measure_set("train", how_.setup.data.tasks));
    }
    for (const Holdout& holdout : how_.setup.data.holdouts) {
      KRL_ASSIGN(sets.emplace_back(), measure_set("holdout/" + holdout.name, holdout.tasks));
    }
    return sets;
  }

  Result<Episode> play_task(const Task& task, std::size_t group) {
    KRL_TRY(evaluations_.prepare(task));
    rollout_.group_size = 1;
    KRL_ASSIGN(RolloutResult rollout,
               play_groups(context(task.id), player_, {{{kNoRound, group}, &task}}));
    KRL_TRY(check_holdout_shapes(rollout.episodes));
    return std::move(rollout.episodes.front());
  }

 private:
  Result<Measurement> measure_set(const std::string& name, const std::vector<Task>& tasks) {
    KRL_ASSIGN(RolloutResult rollout,
               play_groups(context(name), player_, groups_of(tasks, kNoRound)));
    KRL_ASSIGN(const int wrong, check_holdout_shapes(rollout.episodes));
    if (how_.played) how_.played(name, rollout.episodes);
    Measurement measurement = measurement_of(name, rollout.episodes, how_.ks, rollout_.turns);
    measurement.wrong_on_holdout = wrong;
    measurement.retrieval = rollout.retrieval.metrics();
    if (rollout.lost) measurement.first_error = rollout.lost->message;
    return measurement;
  }

  RolloutContext context(const std::string& set) const {
    return {evaluations_,
            *how_.setup.scorer,
            *how_.setup.prompts,
            how_.setup.retrieval.get(),
            rollout_,
            how_.run_seed,
            [this, set](std::string_view phase, int done, int of) {
              if (how_.progress) how_.progress(set, phase, done, of);
            }};
  }

  // The position of a turn.
  struct Place {
    Episode* episode;
    std::size_t turn;
  };
  // Turns by their task and source: the same kernel is checked once.
  using Places = std::map<std::pair<const Task*, std::string>, std::vector<Place>>;

  // Checks every kernel that passed on its task's hold-out shapes too, and revokes those that are
  // wrong there. Returns the number of turns whose kernel was.
  Result<int> check_holdout_shapes(std::vector<Episode>& episodes) const {
    const Places places = passed_kernels(episodes);
    std::vector<TaskKernel> kernels;
    for (const auto& [kernel, turns] : places)
      kernels.push_back({kernel.first, {kernel.second, {}, Format::kExact}});
    KRL_ASSIGN(const std::vector<Evaluation> evaluations,
               with_holdout_shapes(kernels, evaluations_, kNoRound));
    int wrong = 0;
    auto evaluation = evaluations.begin();
    for (const auto& [kernel, turns] : places) {
      const Evaluation& found = *evaluation++;
      if (found.passed()) continue;
      for (const Place& place : turns) {
        KRL_TRY(take_back(place, found));
        wrong += found.infra_error() ? 0 : 1;
      }
    }
    return wrong;
  }

  static Places passed_kernels(std::vector<Episode>& episodes) {
    Places kernels;
    for (Episode& episode : episodes) {
      if (!episode.task->facts.has_holdout) continue;
      for (std::size_t t = 0; t < episode.turns.size(); ++t) {
        const TurnRecord& turn = episode.turns[t];
        if (turn.evaluation.passed())
          kernels[{episode.task, turn.candidate.source}].push_back({&episode, t});
      }
    }
    return kernels;
  }

  Status take_back(const Place& place, const Evaluation& evaluation) const {
    TurnRecord& turn = place.episode->turns[place.turn];
    turn.evaluation = evaluation;
    if (evaluation.infra_error()) return {};
    Episode so_far = *place.episode;
    so_far.turns.resize(place.turn + 1);
    KRL_ASSIGN(turn.score, how_.setup.scorer->score(so_far));
    return {};
  }

  const MeasurementSetup& how_;
  RolloutSettings rollout_;
  Evaluations evaluations_;
  const Player player_;
};

}  // namespace

Status measure_tasks(const std::vector<Holdout>& holdouts, int round, const RolloutContext& context,
                     const Player& player, const std::vector<std::string>& terms,
                     Metrics& metrics) {
  for (const Holdout& holdout : holdouts) {
    KRL_ASSIGN(const RolloutResult rollout,
               play_groups(context, player, groups_of(holdout.tasks, round)));
    constexpr std::string_view kKernel = "kernel/";
    for (const auto& [name, value] : rollout_metrics(rollout.episodes, terms, 1)) {
      if (!name.starts_with(kKernel)) continue;
      metrics[fmt::format("holdout/{}/{}", holdout.name, name.substr(kKernel.size()))] = value;
    }
  }
  return {};
}

Status measure_shapes(const std::vector<Episode>& episodes, int round,
                      const Evaluations& evaluations, Metrics& metrics) {
  std::vector<TaskKernel> best;
  for (const auto& [task, turn] : best_turns(episodes)) best.push_back({task, turn->candidate});
  KRL_ASSIGN(const std::vector<Evaluation> found, with_holdout_shapes(best, evaluations, round));
  double kernels = 0, wrong = 0;
  for (const Evaluation& evaluation : found) {
    if (evaluation.infra_error()) continue;
    ++kernels;
    wrong += evaluation.passed() ? 0 : 1;
  }
  if (kernels > 0) metrics["kernel/regressions_holdout"] = wrong / kernels;
  return {};
}

Result<std::vector<Measurement>> measure_policy(const MeasurementSetup& how) {
  KRL_ASSIGN(Player player, player_of(how.policy));
  return Measurer(how, std::move(player)).run();
}

Result<Episode> play_task(const MeasurementSetup& how, const Task& task, std::size_t group) {
  KRL_ASSIGN(Player player, player_of(how.policy));
  return Measurer(how, std::move(player)).play_task(task, group);
}

}  // namespace krl::core
