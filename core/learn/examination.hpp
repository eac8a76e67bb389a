// Measuring a policy on tasks and shapes that it does not learn from.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/episode/episode.hpp"
#include "core/episode/rollout.hpp"
#include "core/learn/assessment.hpp"
#include "core/learn/setup.hpp"
#include "core/plan/plan.hpp"
#include "core/plugin/policy.hpp"

namespace krl::core {

// What training must not have spoiled: tasks that no training sees, and shapes that no training
// shows.

// The kernels of a rollout on held-out tasks, as holdout/<dataset>/pass_rate and so on.
Status measure_tasks(const std::vector<Holdout>& holdouts, const RolloutContext& context,
                     const std::vector<std::string>& terms, Metrics& metrics);

// kernel/regressions_holdout: of the fastest right kernels of `episodes`, one a task, the share
// that is wrong on a hold-out shape. Not written if no kernel was right.
Status measure_shapes(const std::vector<Episode>& episodes, const RolloutContext& context,
                      Metrics& metrics);

// An examination of a policy: episodes on given tasks, as a stage would play them, of which nothing
// is learned. Blocks; one thread.

// All of it outlives the examination.
struct Examination {
  const Policy& policy;
  const Settings& settings;  // of the stage whose episodes are played
  const StageSetup& setup;
  std::int64_t samples = 1;     // episodes a task, at least 1
  std::vector<std::size_t> ks;  // rising, from 1 to `samples`
  std::uint64_t run_seed = 0;
  std::int64_t threads = 0;  // most evaluations at a time; 0 = as many as the backend can use
  // As RolloutContext::progress.
  std::function<void(std::string_view set, std::string_view phase, int done, int of)> progress;
};

// Plays the episodes of every set of tasks that `setup` holds, the train tasks and each held-out
// set apart. Prompts show what the training shapes gave, as in training; but a kernel that is wrong
// on a hold-out shape counts as wrong, and its turn is scored as such.
Result<std::vector<Assessment>> examine(const Examination& examination);

// One episode of a task, played and judged in the same way. `group` is part of its seeds.
Result<Episode> examine_task(const Examination& examination, const Task& task, std::size_t group);

}  // namespace krl::core
