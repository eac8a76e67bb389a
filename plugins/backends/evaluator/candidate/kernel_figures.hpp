// Properties of a candidate's compiled kernels before anything runs: validity of each launch,
// registers, spills, shared memory and theoretical occupancy. Pure.
#pragma once

#include <kernelrl/launch.hpp>
#include <span>
#include <string>
#include <vector>

#include "plugins/backends/compiled/compiled_kernels.hpp"
#include "plugins/backends/compiled/compute_capability.hpp"
#include "plugins/backends/evaluator/evaluation_record.hpp"
#include "plugins/backends/evaluator/source/launch_schedule.hpp"

namespace krl::evaluator {

// The GPU that code is compiled for.
struct Target {
  const compiled::ComputeCapability& gpu;
  std::string arch;  // "sm_90a": of that GPU

  LaunchLimits launch_limits() const;
};

// Adds a record per kernel of `schedule`, or makes the record a launch_error with the place of the
// directive. `cases`: those of its programs; `kernels`: the schedule's, as they were compiled.
void add_kernel_figures(std::span<const ResolvedCase> cases, const LaunchSchedule& schedule,
                        const std::vector<compiled::CompiledKernel>& kernels, const Target& target,
                        EvaluationRecord* record);

// Adds what each case launches: `launches`, `blocks`, `threads`, and `shared_bytes`, the most that a
// block of a launch uses.
void add_launch_values(const LaunchSchedule& schedule,
                       const std::vector<compiled::CompiledKernel>& kernels,
                       EvaluationRecord* record);

// Notes pointers to other elements than a tensor has, in the launches of the first case, by the
// kernels whose figures the record has. They may be meant, but seldom are where results are wrong.
void note_parameter_types(std::span<const ResolvedCase> cases, const LaunchSchedule& schedule,
                          const std::vector<compiled::CompiledKernel>& kernels,
                          EvaluationRecord* record);

}  // namespace krl::evaluator
