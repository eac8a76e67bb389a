// The curriculum: which tasks a round works on, from easy tiers to hard ones.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/base/metrics.hpp"
#include "core/learn/learnability.hpp"
#include "core/plan/plan.hpp"
#include "core/task/task.hpp"

namespace krl::core {

// One stage's choice of tasks. The state is small and goes into checkpoints. One thread.
class Curriculum {
 public:
  // `tasks` outlive the curriculum. Without `settings.enabled` all tiers are open from the start.
  Curriculum(const CurriculumSettings& settings, TaskChoice choice, const std::vector<Task>& tasks,
             std::uint64_t seed);

  // `count` tasks for the stage's round `round` (from 1). `earlier_share` of the count
  // comes from tiers below the newest open one. With an even choice every task of a pool is taken
  // once before any is taken again; else within the round.
  std::vector<const Task*> choose(std::int64_t round, std::int64_t count) const;

  // Returns `count` more tasks of the open tiers, to replace groups that teach nothing; tasks that
  // are not among the `chosen` ones come first.
  std::vector<const Task*> spares(std::int64_t round, std::int64_t count,
                                  const std::vector<const Task*>& chosen) const;

  // A group of the task's episodes was played; whether its returns differed.
  void observe(const Task& task, bool differed);

  // Opens the next tier if compile and pass rate of the newest one, averaged over the window,
  // exceed the settings'. True if one was opened. The rates are of episodes: later turns are often
  // played by those alone that failed before.
  bool update(const Metrics& metrics);

  std::int64_t open_tier() const { return open_tier_; }

  nlohmann::json state() const;
  void restore(const nlohmann::json& state);

 private:
  std::vector<const Task*> pool(std::int64_t lowest, std::int64_t highest) const;
  std::vector<const Task*> take(const std::vector<const Task*>& pool, std::int64_t round,
                                std::int64_t count) const;

  CurriculumSettings settings_;
  TaskChoice choice_;
  const std::vector<Task>& tasks_;
  std::uint64_t seed_;
  std::int64_t last_tier_ = 0;  // the highest tier of any task
  std::int64_t open_tier_ = 0;  // the newest open one
  std::vector<double> compile_rates_,
      pass_rates_;             // rates of the newest open tier since it was opened, newest last
  Learnability learnability_;  // all tasks are alike with an even choice
};

}  // namespace krl::core
