// What training must not have spoiled: tasks that no training sees, and shapes that no training
// shows.
#pragma once

#include <vector>

#include "core/episode/episode.hpp"
#include "core/episode/rollout.hpp"
#include "core/learn/setup.hpp"

namespace krl {

// The kernels of a rollout on held-out tasks, as holdout/<dataset>/pass_rate and so on.
Status measure_tasks(const std::vector<Holdout>& holdouts, const RolloutContext& context,
                     const std::vector<std::string>& terms, Metrics& metrics);

// kernel/regressions_holdout: of the fastest right kernels of `episodes`, one a task, the share
// that is wrong on a hold-out shape. Not written if no kernel was right.
Status measure_shapes(const std::vector<Episode>& episodes, const RolloutContext& context,
                      Metrics& metrics);

}  // namespace krl
