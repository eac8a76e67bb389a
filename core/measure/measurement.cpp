#include "core/measure/measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "core/base/metrics.hpp"
#include "core/measure/best_at_k.hpp"

namespace krl::core {
namespace {

using nlohmann::json;

// The result of an episode so far.
struct Attempt {
  bool passed = false;
  double score = 0;
  // kUnknown: a kernel passed, and none that did has a time, or a share of the roofline.
  double speedup = 0, roofline = 0;

  bool timed() const { return std::isfinite(speedup); }
};

double roofline_of(const Evaluation& evaluation) {
  return evaluation.value("roofline").value_or(kUnknown);
}

// After `turns` turns; nothing if none of them could be evaluated.
std::optional<Attempt> attempt_of(const Episode& episode, std::size_t turns) {
  std::optional<Attempt> attempt;
  for (std::size_t t = 0; t < std::min(turns, episode.turns.size()); ++t) {
    const TurnRecord& turn = episode.turns[t];
    if (turn.infra_error()) continue;
    if (!attempt) attempt = Attempt{false, turn.score.total, 0};
    attempt->score = std::max(attempt->score, turn.score.total);
    if (!turn.evaluation.passed()) continue;
    if (!attempt->passed) attempt->speedup = attempt->roofline = kUnknown;
    attempt->speedup = std::fmax(attempt->speedup, turn.evaluation.speedup());
    attempt->roofline = std::fmax(attempt->roofline, roofline_of(turn.evaluation));
    attempt->passed = true;
  }
  return attempt;
}

// True if a figure is meaningful over the set: a backend that never measures it leaves only the
// zeros of failed kernels. `figure`: returns it for a kernel that passes.
template <class Figure>
bool measures(const std::vector<Episode>& episodes, const Figure& figure) {
  bool any_passed = false;
  for (const Episode& episode : episodes) {
    for (const TurnRecord& turn : episode.turns) {
      if (!turn.evaluation.passed() || turn.infra_error()) continue;
      if (std::isfinite(figure(turn.evaluation))) return true;
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

// The figures that the backend measures of kernels that pass.
struct Measured {
  bool speedup = false, roofline = false;
};

std::vector<Attempt> with(double Attempt::*figure, const std::vector<Attempt>& attempts) {
  std::vector<Attempt> kept;
  std::copy_if(attempts.begin(), attempts.end(), std::back_inserter(kept),
               [&](const Attempt& a) { return std::isfinite(a.*figure); });
  return kept;
}

// REQUIRES: at least one attempt.
Figures figures_of(const std::vector<Attempt>& attempts, const std::vector<std::size_t>& ks,
                   const Measured& measured) {
  Figures figures;
  const auto add = [&](const std::string& name, const std::vector<Attempt>& of, const auto& value) {
    figures[name] = at_every_k(of, ks, value);
  };
  add("passed", attempts, [](const Attempt& a) { return a.passed ? 1.0 : 0.0; });
  add("score", attempts, [](const Attempt& a) { return a.score; });
  const std::vector<Attempt> placed = with(&Attempt::roofline, attempts);
  if (measured.roofline && !placed.empty())
    add("roofline", placed, [](const Attempt& a) { return a.roofline; });
  const std::vector<Attempt> timed = with(&Attempt::speedup, attempts);
  if (!measured.speedup || timed.empty()) return figures;
  add("speedup", timed, [](const Attempt& a) { return a.speedup; });
  for (const double p : kFastFactors)
    add(fmt::format("fast_{}", p), timed,
        [p](const Attempt& a) { return is_fast(a.speedup, p) ? 1.0 : 0.0; });
  return figures;
}

// Each over the tasks that have the figure.
Figures mean_figures(const std::vector<TaskMeasurement>& tasks) {
  std::map<std::string, double> counts;
  for (const TaskMeasurement& task : tasks)
    for (const auto& [name, at] : task.figures) ++counts[name];
  Figures mean = {{"passed", {}}, {"score", {}}};
  for (const TaskMeasurement& task : tasks) {
    for (const auto& [name, at] : task.figures)
      for (const auto& [k, value] : at) mean[name][k] += 1 / counts[name] * value;
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

class Estimator {
 public:
  Estimator(const std::vector<Episode>& episodes, const std::vector<std::size_t>& ks)
      : episodes_(episodes), tasks_(by_task(episodes)), ks_(ks) {
    measured_.speedup = measures(episodes, [](const Evaluation& e) { return e.speedup(); });
    measured_.roofline = measures(episodes, roofline_of);
  }

  // Returns the figures of the tasks after `turns` turns; tasks without an episode are left out.
  std::vector<TaskMeasurement> tasks(std::size_t turns) const {
    std::vector<TaskMeasurement> measured;
    for (const auto& episodes : tasks_) {
      std::vector<Attempt> attempts;
      for (const Episode* episode : episodes) {
        if (const auto attempt = attempt_of(*episode, turns)) attempts.push_back(*attempt);
      }
      if (attempts.empty()) continue;
      const Task& task = *episodes.front()->task;
      measured.push_back({task.id, task.tier, static_cast<int>(attempts.size()),
                          figures_of(attempts, ks_, measured_)});
    }
    return measured;
  }

  // The turn of this number, counted from 0.
  TurnMeasurement turn(std::size_t index) const {
    TurnMeasurement turn;
    for (const Episode& episode : episodes_) {
      if (index >= episode.turns.size()) continue;
      const Evaluation& evaluation = episode.turns[index].evaluation;
      if (episode.turns[index].infra_error()) continue;
      turn.kernels.add(evaluation.compiled(), evaluation.passed());
    }
    turn.so_far = mean_figures(tasks(index + 1));
    return turn;
  }

 private:
  const std::vector<Episode>& episodes_;
  const std::vector<std::vector<const Episode*>> tasks_;
  const std::vector<std::size_t>& ks_;
  Measured measured_;
};

// {"1": 0.5, "16": 0.75}
json by_k(const AtK& figures) {
  json object = json::object();
  for (const auto& [k, value] : figures) object[std::to_string(k)] = value;
  return object;
}

json by_k(const Figures& figures) {
  json object = json::object();
  for (const auto& [name, at] : figures) object[name] = by_k(at);
  return object;
}

}  // namespace

Measurement measurement_of(std::string name, const std::vector<Episode>& episodes,
                           const std::vector<std::size_t>& ks, std::int64_t turns) {
  const Estimator estimator(episodes, ks);
  Measurement result;
  result.name = std::move(name);
  result.tasks = estimator.tasks(static_cast<std::size_t>(turns));
  result.figures = mean_figures(result.tasks);
  for (const TaskMeasurement& task : result.tasks) result.episodes += task.episodes;
  for (const Episode& episode : episodes) {
    const auto attempt = attempt_of(episode, episode.turns.size());
    result.untimed += attempt && !attempt->timed() ? 1 : 0;
    for (const TurnRecord& turn : episode.turns) {
      if (!turn.infra_error()) continue;
      if (++result.infra_errors == 1) result.first_error = turn.infra_why();
    }
  }
  for (std::int64_t t = 0; t < turns; ++t)
    result.turns.push_back(estimator.turn(static_cast<std::size_t>(t)));
  return result;
}

json to_json(const Measurement& a) {
  json tasks = json::array(), turns = json::array();
  for (const TaskMeasurement& task : a.tasks) {
    tasks.push_back({{"id", task.id},
                     {"tier", task.tier},
                     {"episodes", task.episodes},
                     {"at", by_k(task.figures)}});
  }
  for (std::size_t t = 0; t < a.turns.size(); ++t) {
    const TurnMeasurement& turn = a.turns[t];
    turns.push_back({{"turn", t + 1},
                     {"kernels", turn.kernels.count},
                     {"compile_rate", turn.kernels.compile_rate()},
                     {"pass_rate", turn.kernels.pass_rate()},
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
          {"tasks", tasks},
          {"retrieval", a.retrieval}};
}

}  // namespace krl::core
