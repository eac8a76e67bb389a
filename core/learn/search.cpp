#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "core/learn/budget.hpp"
#include "core/learn/declared_metrics.hpp"
#include "core/learn/exploration.hpp"
#include "core/learn/goal.hpp"
#include "core/learn/stage_context.hpp"
#include "core/learn/tuner.hpp"
#include "core/measure/discovery.hpp"
#include "core/task/source_identity.hpp"

namespace krl::core {
namespace {

// Metrics computed in this file, and those of the budget.
constexpr const char* kSearchMetrics[] = {
    "tune/kernels",         "tune/lost",      "tune/right",           "tune/improved",
    "budget/answer_tokens", "budget/dollars", "budget/prompt_tokens", "budget/kernels",
    "time_s/search",        "time_s/tune"};

// Rounds without a new kernel after which one is no longer expected.
constexpr std::int64_t kMostIdleRounds = 10;

void add_tuning(const std::vector<Episode>& tuned, Metrics& metrics) {
  double all = 0, right = 0, improved = 0;
  for (const Episode& episode : tuned) {
    const Evaluation& evaluation = episode.turns.front().evaluation;
    all += evaluation.infra_error() ? 0 : 1;
    const double parent = episode.given.front().evaluation.speedup();
    right += evaluation.passed() ? 1 : 0;
    improved += evaluation.passed() && evaluation.speedup() > kRecordFactor * parent ? 1 : 0;
  }
  metrics["tune/kernels"] = all;
  metrics["tune/lost"] = static_cast<double>(tuned.size()) - all;
  if (all == 0) return;
  metrics["tune/right"] = right / all;
  metrics["tune/improved"] = improved / all;
}

class Search {
 public:
  explicit Search(const StageContext& context)
      : context_(context),
        settings_(context.stage.search),
        budget_(settings_.budget),
        goal_(context.stage, context.setup.terms),
        exploration_(context, {{}, [this](std::int64_t round, std::vector<const Task*> drawn) {
                                 return within_budget(round, std::move(drawn));
                               }}) {
    if (!context.position.goal.is_null()) goal_.restore(context.position.goal);
    const nlohmann::json& kept = context.position.budget;
    if (kept.is_null()) return;
    budget_.restore(kept);
    kept.at("idle_rounds").get_to(idle_rounds_);
    if (kept.contains("lost")) kept.at("lost").get_to(lost_);
    if (kept.contains("refused")) kept.at("refused").get_to(refused_);
  }

  Result<StageEnd> run() {
    bool last = over(context_.position.stage_iteration);
    if (!last) KRL_TRY(exploration_.publish());
    bool stops = context_.stop.load();
    while (!last) {
      if (stops) return StageEnd::kInterrupted;
      Metrics metrics;
      KRL_TRY(iterate(metrics));
      KRL_ASSIGN(const bool reached, goal_.reached(exploration_.stage_iteration(), metrics));
      last = reached || over(exploration_.stage_iteration());
      exploration_.update(metrics);
      KRL_ASSIGN(stops, context_.finish_iteration(std::move(metrics), last, [&] { keep_state(); }));
    }
    return StageEnd::kDone;
  }

 private:
  void keep_state() const {
    exploration_.keep_state();
    context_.position.goal = goal_.state();
    context_.position.budget = budget_.state();
    context_.position.budget["idle_rounds"] = idle_rounds_;
    context_.position.budget["lost"] = lost_;
    context_.position.budget["refused"] = refused_;
  }

  // True if nothing is to come after so many iterations.
  bool over(std::int64_t iterations) const {
    const auto& tasks = context_.setup.data.tasks;
    return iterations >= context_.stage.most_iterations() || budget_.used_up() || is_idle() ||
           std::ranges::all_of(tasks, [&](const Task& task) { return left(task) == 0; });
  }

  // True if the kernels that are left would be waited for in vain.
  bool is_idle() const { return settings_.budget.kernels > 0 && idle_rounds_ >= kMostIdleRounds; }

  // Tunes, samples, evaluates.
  Status iterate(Metrics& metrics) {
    const Stopwatch watch;
    const std::int64_t known = all_judged();
    KRL_ASSIGN(std::vector<Episode> tuned, tune());
    metrics["time_s/tune"] = watch.seconds();
    if (settings_.tune > 0) add_tuning(tuned, metrics);
    KRL_ASSIGN(RolloutResult rollout, exploration_.play(metrics));
    KRL_TRY(exploration_.take_in(rollout, std::move(tuned), metrics));
    tuned_.clear();
    retire_refused(rollout.episodes);
    metrics["time_s/iteration"] = watch.seconds();
    KRL_TRY(budget_.add(rollout, watch.seconds()));
    metrics.merge(budget_.metrics());
    metrics["budget/kernels"] = most_judged();
    idle_rounds_ = all_judged() > known ? 0 : idle_rounds_ + 1;
    if (is_idle()) {
      context_.warn(
          fmt::format("the search ends: no new kernel was judged in {} iterations; another run "
                      "with a higher rollout.temperature or search.tune may find some",
                      kMostIdleRounds));
    }
    return {};
  }

  // Judges the archive's fastest kernels with other numbers, at most half as many as are left.
  Result<std::vector<Episode>> tune() {
    std::vector<Episode> episodes;
    for (const Task& task : context_.setup.data.tasks) {
      const auto count = std::min(settings_.tune, left(task) / 2);
      KernelIds known = lost_[task.id];
      if (const auto judged = exploration_.judged().of(task))
        known.insert(judged->begin(), judged->end());
      const auto chosen = choose_tuned(exploration_.archive().kernels(task.id), std::move(known),
                                       static_cast<std::size_t>(count));
      tuned_[&task] = static_cast<std::int64_t>(chosen.size());
      for (const TunedKernel& kernel : chosen)
        episodes.push_back(episode_of(kernel, task, tuned_group(episodes.size())));
    }
    std::vector<Status> results(episodes.size());
    context_.evaluations.side_by_side(episodes.size(),
                                      [&](std::size_t i) { results[i] = judge(episodes[i]); });
    for (Status& result : results) KRL_TRY(std::move(result));
    for (const Episode& episode : episodes) {
      const TurnRecord& turn = episode.turns.front();
      if (turn.infra_error()) lost_[episode.task->id].insert(identity_of(turn.candidate.source));
    }
    return episodes;
  }

  // Tasks whose prompts the policy refuses would be asked for in vain.
  void retire_refused(const std::vector<Episode>& episodes) {
    std::map<std::string, bool> answered;  // by task, of those that were played
    for (const Episode& episode : episodes) {
      if (episode.tuned) continue;
      const bool refused = episode.refused && !episode.turns.empty() && episode.turns.front().lost;
      answered[episode.task->id] |= !refused;
    }
    for (const auto& [task, any] : answered) {
      if (any || !refused_.insert(task).second) continue;
      context_.warn(
          fmt::format("task '{}' is left out from now on: the policy refuses its prompts", task));
    }
  }

  // A group beyond those that are played.
  GroupId tuned_group(std::size_t number) const {
    const auto played = static_cast<std::size_t>(context_.stage.settings.rollout.groups);
    return {exploration_.iteration(), played + number};
  }

  Status judge(Episode& episode) const {
    TurnRecord& turn = episode.turns.front();
    KRL_ASSIGN(Evaluated evaluated, context_.evaluations.evaluate(*episode.task, turn.candidate,
                                                                  exploration_.iteration()));
    turn.evaluation = std::move(evaluated.evaluation);
    turn.reused = evaluated.reused;
    if (turn.infra_error()) return {};
    KRL_ASSIGN(turn.score, context_.setup.scorer->score(episode));
    return {};
  }

  // Returns how many kernels of the task may still be judged.
  std::int64_t left(const Task& task) const {
    const std::int64_t most = settings_.budget.kernels;
    if (refused_.contains(task.id)) return 0;
    if (most == 0) return std::numeric_limits<std::int64_t>::max();
    const auto tuned = tuned_.find(&task);
    const std::int64_t begun = tuned == tuned_.end() ? 0 : tuned->second;
    return std::max<std::int64_t>(0, most - judged(task) - begun);
  }

  std::int64_t judged(const Task& task) const {
    const auto known = exploration_.judged().of(task);
    return known == nullptr ? 0 : static_cast<std::int64_t>(known->size());
  }

  std::int64_t all_judged() const {
    std::int64_t all = 0;
    for (const Task& task : context_.setup.data.tasks) all += judged(task);
    return all;
  }

  // The kernels judged of the task with the most.
  double most_judged() const {
    std::int64_t most = 0;
    for (const Task& task : context_.setup.data.tasks) most = std::max(most, judged(task));
    return static_cast<double>(most);
  }

  // Returns as many of the drawn tasks as have kernels left for their groups, and others in place of
  // the rest, as far as there are any: of open tiers if any of these is left.
  std::vector<const Task*> within_budget(std::int64_t round, std::vector<const Task*> drawn) const {
    const RolloutSettings& rollout = context_.stage.settings.rollout;
    const std::int64_t of_group = rollout.group_size * rollout.turns;
    std::map<const Task*, std::int64_t> groups;
    const auto take = [&](const Task* task) {
      if (groups[task] * of_group >= left(*task)) return false;
      ++groups[task];
      return true;
    };
    const std::size_t count = drawn.size();
    std::erase_if(drawn, [&](const Task* task) { return !take(task); });
    const auto refill = [&](std::int64_t highest) {
      std::vector<const Task*> tasks;
      for (const Task& task : context_.setup.data.tasks)
        if (static_cast<std::int64_t>(task.tier) <= highest) tasks.push_back(&task);
      std::size_t refusals = 0;
      for (auto i = static_cast<std::size_t>(round);
           drawn.size() < count && refusals < tasks.size(); ++i) {
        const Task* const task = tasks[i % tasks.size()];
        refusals = take(task) ? 0 : refusals + 1;
        if (refusals == 0) drawn.push_back(task);
      }
    };
    refill(exploration_.open_tier());
    if (drawn.empty()) refill(std::numeric_limits<std::int64_t>::max());
    return drawn;
  }

  const StageContext& context_;
  const SearchSettings& settings_;
  Budget budget_;
  Goal goal_;
  std::map<const Task*, std::int64_t> tuned_;  // kernels of the iteration
  std::int64_t idle_rounds_ = 0;               // in a row, to the last one
  TaskKernelIds lost_;                         // tuned kernels that the infrastructure lost
  std::set<std::string> refused_;              // tasks whose prompts the policy refuses
  Exploration exploration_;
};

}  // namespace

Result<StageEnd> run_search(const StageContext& context) { return Search(context).run(); }

void declare_search_metrics(MetricNames& names) {
  for (const char* name : kSearchMetrics) names.of_iterations.emplace_back(name);
}

}  // namespace krl::core
