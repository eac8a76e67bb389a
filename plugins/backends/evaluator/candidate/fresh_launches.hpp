// The launches of a candidate at fresh shapes, where an invalid launch is not a launch error of the
// other cases, and at shapes where it is not run. Pure.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "plugins/backends/evaluator/candidate/candidate_builder.hpp"
#include "plugins/backends/evaluator/check/evaluation_plan.hpp"

namespace krl::evaluator {

// Adds the programs of the fresh cases to the schedule, which has those of the known cases; an empty
// one if there is an obstacle.
Obstacles add_fresh_launches(const PreparedTask& asked, const Target& target, Built* built);

// Returns where and why a candidate cannot be launched: the first such shape of task.launchable.
std::optional<std::pair<std::string, std::string>> launch_obstacle(const PreparedTask& task,
                                                                   const Target& target,
                                                                   const Built& built);

}  // namespace krl::evaluator
