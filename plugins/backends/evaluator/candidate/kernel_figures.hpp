// Properties of a candidate's compiled kernels before anything runs: validity of each launch,
// registers, spills, shared memory, theoretical occupancy and instruction kinds. Pure.
#pragma once

#include <span>
#include <string>

#include "plugins/backends/compiled/compiled_module.hpp"
#include "plugins/backends/compiled/compute_capability.hpp"
#include "plugins/backends/compiled/cubin.hpp"
#include "plugins/backends/evaluator/evaluation_record.hpp"
#include "plugins/backends/evaluator/source/launch_schedule.hpp"
#include "plugins/backends/ptx/module.hpp"

namespace krl::evaluator {
using namespace compiled;

// Adds a record per kernel of `schedule`, or makes the record a launch_error with the place of the
// directive. `cases`: those of its programs. `arch`: "sm_90a", the architecture of `gpu` that the
// code was compiled for.
void add_kernel_figures(std::span<const ResolvedCase> cases, const LaunchSchedule& schedule,
                        const CompiledModule& module, const ComputeCapability& gpu,
                        const std::string& arch, EvaluationRecord* record);

// Adds the values of instruction_classes.hpp and machine_code.hpp. `code`: the PTX of `module`.
void add_code_values(const CompiledModule& module, const ptx::Module& code,
                     EvaluationRecord* record);

}  // namespace krl::evaluator
