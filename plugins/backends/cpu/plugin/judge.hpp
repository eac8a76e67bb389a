// Turns the runs of a candidate into its verdict, cases, and feedback for the model. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plugins/backends/cpu/plugin/machine_runs.hpp"
#include "plugins/backends/evaluator/check/case_verdicts.hpp"
#include "plugins/backends/evaluator/evaluation_record.hpp"

namespace krl::cpu {

// `run`: an index into the finished runs.
evaluator::RunVerdict judge_run(const evaluator::PreparedTask& task, const MachineRuns& runs,
                                std::size_t run);

// Fills in the cases and, where a run was wrong or did not end, the verdict and its reason. The
// record's cases are the task's; those after a fault have its verdict and say that they were not
// run. A record that has cases already gets what these runs add to them. Gives the first wrong run,
// if any.
std::optional<std::size_t> judge(const evaluator::PreparedTask& task,
                                 const evaluator::LaunchSchedule& schedule, const MachineRuns& runs,
                                 evaluator::EvaluationRecord* record);

}  // namespace krl::cpu
