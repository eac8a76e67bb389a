// The parts of `kernelrl eval`: of a kernel file, of a folder or a table of them, and of a policy.
// Each takes the parsed command line, prints, and returns the exit code. Main thread only.
#pragma once

#include <kernelrl/evaluation.hpp>

#include "cli/command_line.hpp"
#include "core/task/answer.hpp"

namespace krl::cli {
using namespace core;

// REQUIRES: "backend", "task" and "kernel" are there.
int eval_kernel(const CommandLine& line);

// The same, and "kernel" is a folder: each file is evaluated for the task that its name tells, a
// few at a time. --output FILE gets one JSON line a kernel; a later call goes on where this one
// ended.
int eval_folder(const CommandLine& line);

// Evaluates a table of other projects' records in the same way, if "kernel" is one (is_table).
int eval_table(const CommandLine& line);
bool is_table(const std::string& file);

// REQUIRES: names_policy(line).
int eval_policy(const CommandLine& line);

// The result of an evaluation as text: verdict and reason, then one row a case.
std::string describe_evaluation(const Candidate& candidate, const Evaluation& evaluation);

}  // namespace krl::cli
