#include "core/learn/assessment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "core/learn/estimators.hpp"
#include "core/learn/statistics.hpp"

namespace krl {
namespace {

using nlohmann::json;

// What an episode had come to.
struct Attempt {
  bool passed = false;
  double score = 0;
  double speedup = 0;  // kNotMeasured: a kernel passed, and none that did has a time

  bool timed() const { return std::isfinite(speedup); }
};

// After `turns` turns; nothing if none of them could be evaluated.
std::optional<Attempt> attempt_of(const Episode& episode, std::size_t turns) {
  std::optional<Attempt> attempt;
  for (std::size_t t = 0; t < std::min(turns, episode.turns.size()); ++t) {
    const TurnRecord& turn = episode.turns[t];
    if (turn.infra_error()) continue;
    if (!attempt) attempt = Attempt{false, turn.score.total, 0};
    attempt->score = std::max(attempt->score, turn.score.total);
    if (!turn.evaluation.passed()) continue;
    const double speedup = turn.evaluation.speedup();
    attempt->speedup = attempt->passed ? std::fmax(attempt->speedup, speedup) : speedup;
    attempt->passed = true;
  }
  return attempt;
}

// Whether what there is of speedups says something: a backend that times no kernel leaves those
// that failed alone.
bool times_kernels(const std::vector<Episode>& episodes) {
  bool any_passed = false;
  for (const Episode& episode : episodes) {
    for (const TurnRecord& turn : episode.turns) {
      if (!turn.evaluation.passed() || turn.infra_error()) continue;
      if (std::isfinite(turn.evaluation.speedup())) return true;
      any_passed = true;
    }
  }
  return !any_passed;
}

template <class Value>
AtK at_every_k(const std::vector<Attempt>& attempts, const std::vector<std::size_t>& ks,
               const Value& value) {
  std::vector<double> values;
  values.reserve(attempts.size());
  for (const Attempt& attempt : attempts) values.push_back(value(attempt));
  AtK result;
  for (const std::size_t k : ks) result[k] = best_at_k(values, std::min(k, values.size()));
  return result;
}

// REQUIRES: at least one attempt.
Figures figures_of(const std::vector<Attempt>& attempts, const std::vector<std::size_t>& ks,
                   bool timed) {
  Figures figures;
  figures.passed = at_every_k(attempts, ks, [](const Attempt& a) { return a.passed ? 1.0 : 0.0; });
  figures.score = at_every_k(attempts, ks, [](const Attempt& a) { return a.score; });
  std::vector<Attempt> with_time;
  std::copy_if(attempts.begin(), attempts.end(), std::back_inserter(with_time),
               [](const Attempt& a) { return a.timed(); });
  if (!timed || with_time.empty()) return figures;
  figures.speedup = at_every_k(with_time, ks, [](const Attempt& a) { return a.speedup; });
  figures.fast.emplace();
  for (const double p : kFastFactors) {
    (*figures.fast)[p] = at_every_k(
        with_time, ks, [p](const Attempt& a) { return is_fast(a.speedup, p) ? 1.0 : 0.0; });
  }
  return figures;
}

void add(AtK& sum, const AtK& figures, double share) {
  for (const auto& [k, value] : figures) sum[k] += share * value;
}

Figures mean_figures(const std::vector<Figures>& tasks) {
  Figures mean;
  const double share = 1 / static_cast<double>(tasks.size());
  const double timed_share =
      1 / static_cast<double>(std::count_if(tasks.begin(), tasks.end(), [](const Figures& task) {
        return task.speedup.has_value();
      }));
  for (const Figures& task : tasks) {
    add(mean.passed, task.passed, share);
    add(mean.score, task.score, share);
    if (!task.speedup) continue;
    if (!mean.speedup) mean.speedup.emplace(), mean.fast.emplace();
    add(*mean.speedup, *task.speedup, timed_share);
    for (const auto& [p, fast] : *task.fast) add((*mean.fast)[p], fast, timed_share);
  }
  return mean;
}

// The episodes of every task, in the order of the tasks.
std::vector<std::vector<const Episode*>> by_task(const std::vector<Episode>& episodes) {
  std::vector<std::vector<const Episode*>> tasks;
  const Task* last = nullptr;
  for (const Episode& episode : episodes) {
    if (episode.task != last) tasks.emplace_back();
    last = episode.task;
    tasks.back().push_back(&episode);
  }
  return tasks;
}

class Assessor {
 public:
  Assessor(const std::vector<Episode>& episodes, const std::vector<std::size_t>& ks)
      : episodes_(episodes), tasks_(by_task(episodes)), ks_(ks), timed_(times_kernels(episodes)) {}

  // What is known of the tasks after `turns` turns; those without an episode are left out.
  std::vector<TaskAssessment> tasks(std::size_t turns) const {
    std::vector<TaskAssessment> assessed;
    for (const auto& episodes : tasks_) {
      std::vector<Attempt> attempts;
      for (const Episode* episode : episodes) {
        if (const auto attempt = attempt_of(*episode, turns)) attempts.push_back(*attempt);
      }
      if (attempts.empty()) continue;
      const Task& task = *episodes.front()->task;
      assessed.push_back({task.id, task.tier, static_cast<int>(attempts.size()),
                          figures_of(attempts, ks_, timed_)});
    }
    return assessed;
  }

  // The turn of this number, counted from 0.
  TurnAssessment turn(std::size_t index) const {
    TurnAssessment turn;
    int compiled = 0, passed = 0;
    for (const Episode& episode : episodes_) {
      if (index >= episode.turns.size()) continue;
      const Evaluation& evaluation = episode.turns[index].evaluation;
      if (episode.turns[index].infra_error()) continue;
      ++turn.kernels;
      compiled += evaluation.compiled() ? 1 : 0;
      passed += evaluation.passed() ? 1 : 0;
    }
    turn.compile_rate = static_cast<double>(compiled) / std::max(turn.kernels, 1);
    turn.pass_rate = static_cast<double>(passed) / std::max(turn.kernels, 1);
    turn.so_far = mean_over(tasks(index + 1));
    return turn;
  }

  static Figures mean_over(const std::vector<TaskAssessment>& tasks) {
    std::vector<Figures> figures;
    for (const TaskAssessment& task : tasks) figures.push_back(task.figures);
    return mean_figures(figures);
  }

 private:
  const std::vector<Episode>& episodes_;
  const std::vector<std::vector<const Episode*>> tasks_;
  const std::vector<std::size_t>& ks_;
  const bool timed_;
};

// {"1": 0.5, "16": 0.75}
json by_k(const AtK& figures) {
  json object = json::object();
  for (const auto& [k, value] : figures) object[std::to_string(k)] = value;
  return object;
}

json by_k(const Figures& figures) {
  json object = {{"passed", by_k(figures.passed)}, {"score", by_k(figures.score)}};
  if (!figures.speedup) return object;
  object["speedup"] = by_k(*figures.speedup);
  for (const auto& [p, fast] : *figures.fast) object[fmt::format("fast_{}", p)] = by_k(fast);
  return object;
}

}  // namespace

Assessment assess(std::string name, const std::vector<Episode>& episodes,
                  const std::vector<std::size_t>& ks, std::int64_t turns) {
  const Assessor assessor(episodes, ks);
  Assessment result;
  result.name = std::move(name);
  result.tasks = assessor.tasks(static_cast<std::size_t>(turns));
  result.figures = Assessor::mean_over(result.tasks);
  for (const TaskAssessment& task : result.tasks) result.episodes += task.episodes;
  for (const Episode& episode : episodes) {
    const auto attempt = attempt_of(episode, episode.turns.size());
    result.untimed += attempt && !attempt->timed() ? 1 : 0;
    for (const TurnRecord& turn : episode.turns) {
      if (!turn.infra_error()) continue;
      if (++result.infra_errors == 1) result.first_error = turn.infra_why();
    }
  }
  for (std::int64_t t = 0; t < turns; ++t)
    result.turns.push_back(assessor.turn(static_cast<std::size_t>(t)));
  return result;
}

json to_json(const Assessment& a) {
  json tasks = json::array(), turns = json::array();
  for (const TaskAssessment& task : a.tasks) {
    tasks.push_back({{"id", task.id},
                     {"tier", task.tier},
                     {"episodes", task.episodes},
                     {"at", by_k(task.figures)}});
  }
  for (std::size_t t = 0; t < a.turns.size(); ++t) {
    const TurnAssessment& turn = a.turns[t];
    turns.push_back({{"turn", t + 1},
                     {"kernels", turn.kernels},
                     {"compile_rate", turn.compile_rate},
                     {"pass_rate", turn.pass_rate},
                     {"so_far", by_k(turn.so_far)}});
  }
  return {{"name", a.name},
          {"episodes", a.episodes},
          {"infra_errors", a.infra_errors},
          {"first_error", a.first_error},
          {"without_time", a.untimed},
          {"wrong_on_holdout_shapes", a.wrong_on_holdout},
          {"at", by_k(a.figures)},
          {"turns", turns},
          {"tasks", tasks}};
}

}  // namespace krl
