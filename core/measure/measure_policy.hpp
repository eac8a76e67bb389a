// Measuring a policy: episodes without learning, on training and held-out tasks and shapes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/episode/episode.hpp"
#include "core/episode/rollout.hpp"
#include "core/measure/measurement.hpp"
#include "core/plan/plan.hpp"
#include "core/plugin/policy.hpp"
#include "core/stage/stage_data.hpp"
#include "core/stage/stage_setup.hpp"

namespace krl::core {

// Measures the kernels of a rollout on held-out tasks, which are not used in training, as
// holdout/<dataset>/pass_rate and so on. `round`: part of the seeds.
Status measure_tasks(const std::vector<Holdout>& holdouts, int round, const RolloutContext& context,
                     const Player& player, const std::vector<std::string>& terms, Metrics& metrics);

// kernel/regressions_holdout: of the fastest right kernels of `episodes`, one a task, the share
// that is wrong on a hold-out shape. Not written if no kernel was right.
Status measure_shapes(const std::vector<Episode>& episodes, int round,
                      const Evaluations& evaluations, Metrics& metrics);

// The inputs of a measurement of a policy on a stage's tasks, which must all outlive it. Episodes
// are those that the stage would play, without learning. Blocks; one thread.
struct MeasurementSetup {
  const Policy& policy;
  const Settings& settings;  // settings of the stage whose episodes are played
  const StageSetup& setup;
  std::int64_t samples = 1;     // episodes a task, at least 1
  std::vector<std::size_t> ks;  // rising, from 1 to `samples`
  std::uint64_t run_seed = 0;
  // Called as RolloutContext::progress is.
  std::function<void(std::string_view set, std::string_view phase, int done, int of)> progress = {};
  // Called with the episodes of a set once all of their kernels have been judged.
  std::function<void(std::string_view set, const std::vector<Episode>& episodes)> played = {};
};

// Plays the episodes of every set of tasks in `setup`, the train tasks and each held-out set
// separately. Prompts show results of the training shapes, as in training; but a kernel that is
// wrong on a hold-out shape counts as wrong, and its turn is scored as such.
Result<std::vector<Measurement>> measure_policy(const MeasurementSetup& how);

// One episode of a task, played and evaluated in the same way. `group` is part of its seeds.
Result<Episode> play_task(const MeasurementSetup& how, const Task& task, std::size_t group);

}  // namespace krl::core
