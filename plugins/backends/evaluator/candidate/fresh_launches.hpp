// The launches of a candidate at fresh shapes, where an invalid launch is not a launch error of the
// other cases, and at shapes where it is not run. Pure.
#pragma once

#include <kernelrl/launch.hpp>
#include <optional>
#include <string>
#include <utility>

#include "plugins/backends/compiled/compiled_module.hpp"
#include "plugins/backends/compiled/compute_capability.hpp"
#include "plugins/backends/evaluator/check/case_data.hpp"
#include "plugins/backends/evaluator/check/evaluation_plan.hpp"
#include "plugins/backends/evaluator/source/launch_schedule.hpp"

namespace krl::evaluator {
using namespace compiled;

// Returns the GPU's limits on launches.
LaunchLimits launch_limits(const ComputeCapability& gpu);

// Adds the programs of the fresh cases to `schedule`, which has those of the known cases; an empty
// one if there is an obstacle. `arch`: as in add_kernel_figures.
Obstacles add_fresh_launches(const PreparedTask& asked, const CompiledModule& module,
                             const ComputeCapability& gpu, const std::string& arch,
                             LaunchSchedule* schedule);

// Returns where and why a candidate cannot be launched: the first such shape of task.launchable.
std::optional<std::pair<std::string, std::string>> launch_obstacle(const PreparedTask& task,
                                                                   const LaunchSchedule& schedule,
                                                                   const CompiledModule& module,
                                                                   const ComputeCapability& gpu,
                                                                   const std::string& arch);

}  // namespace krl::evaluator
