#include "core/learn/examination.hpp"

#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/episode/rollout.hpp"

namespace krl {
namespace {

bool has_holdout_shapes(const Task& task) {
  const auto definition = nlohmann::json::parse(task.definition_json, nullptr, false);
  return definition.is_object() && definition.contains("holdout") && !definition["holdout"].empty();
}

class Examiner {
 public:
  explicit Examiner(const Examination& e)
      : examination_(e),
        rollout_(e.settings.rollout),
        evaluations_(*e.setup.backend, within_threads(e.setup, e.threads), e.run_seed, nullptr,
                     e.settings.rollout.contract) {
    rollout_.group_size = e.samples;
  }

  Result<std::vector<Assessment>> run() {
    KRL_TRY(prepare_tasks(examination_.setup, evaluations_));
    KRL_ASSIGN(PolicyInfo info, examination_.policy.describe());
    const std::int64_t context = info.context_tokens;
    player_.emplace(Player{examination_.policy, std::move(info), nullptr, context});
    std::vector<Assessment> sets;
    if (!examination_.setup.data.tasks.empty()) {
      KRL_ASSIGN(sets.emplace_back(), examine_set("train", examination_.setup.data.tasks));
    }
    for (const Holdout& holdout : examination_.setup.data.holdouts) {
      KRL_ASSIGN(sets.emplace_back(), examine_set("holdout/" + holdout.name, holdout.tasks));
    }
    return sets;
  }

 private:
  Result<Assessment> examine_set(const std::string& name, const std::vector<Task>& tasks) {
    std::vector<const Task*> pointers;
    for (const Task& task : tasks) pointers.push_back(&task);
    KRL_ASSIGN(RolloutResult rollout, run_rollout(pointers, context(name)));
    KRL_ASSIGN(const int wrong, check_holdout_shapes(rollout.episodes));
    Assessment assessment = assess(name, rollout.episodes, examination_.ks, rollout_.turns);
    assessment.wrong_on_holdout = wrong;
    if (rollout.lost) assessment.first_error = rollout.lost->message;
    return assessment;
  }

  RolloutContext context(const std::string& set) const {
    return {*player_,
            evaluations_,
            *examination_.setup.scorer,
            *examination_.setup.prompts,
            rollout_,
            examination_.run_seed,
            0,
            [this, set](std::string_view phase, int done, int of) {
              if (examination_.progress) examination_.progress(set, phase, done, of);
            }};
  }

  // Where a turn stands.
  struct Place {
    Episode* episode;
    std::size_t turn;
  };
  // Turns by their task and source: the same kernel is checked once.
  using Kernels = std::map<std::pair<const Task*, std::string>, std::vector<Place>>;

  // Checks every kernel that passed on its task's hold-out shapes too, and takes back what is wrong
  // there. The number of turns whose kernel was.
  Result<int> check_holdout_shapes(std::vector<Episode>& episodes) const {
    Kernels kernels = passed_kernels(episodes);
    std::vector<Kernels::value_type*> list;
    for (auto& kernel : kernels) list.push_back(&kernel);
    std::vector<Result<Evaluated>> results(list.size());
    evaluations_.side_by_side(list.size(), [&](std::size_t i) {
      const auto& [task, source] = list[i]->first;
      results[i] =
          evaluations_.evaluate(*task, {source, {}, Format::kExact}, 0, Shapes::kWithHoldout);
    });
    int wrong = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
      KRL_ASSIGN(const Evaluated evaluated, std::move(results[i]));
      if (evaluated.evaluation.passed()) continue;
      for (const Place& place : list[i]->second) {
        KRL_TRY(take_back(place, evaluated.evaluation));
        wrong += evaluated.evaluation.infra_error() ? 0 : 1;
      }
    }
    return wrong;
  }

  static Kernels passed_kernels(std::vector<Episode>& episodes) {
    std::map<const Task*, bool> has_shapes;
    Kernels kernels;
    for (Episode& episode : episodes) {
      const auto [known, is_new] = has_shapes.try_emplace(episode.task);
      if (is_new) known->second = has_holdout_shapes(*episode.task);
      if (!known->second) continue;
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
    KRL_ASSIGN(turn.score, examination_.setup.scorer->score(so_far));
    return {};
  }

  const Examination& examination_;
  RolloutSettings rollout_;
  Evaluations evaluations_;
  std::optional<Player> player_;
};

}  // namespace

Result<std::vector<Assessment>> examine(const Examination& examination) {
  return Examiner(examination).run();
}

}  // namespace krl
