// The two halves of `kernelrl eval`: of one kernel file, and of a policy. Each takes the parsed
// command line, prints, and returns the exit code. Main thread only.
#pragma once

#include <kernelrl/evaluation.hpp>

#include "cli/command_line.hpp"
#include "core/task/answer.hpp"

namespace krl::cli {
using namespace core;

// REQUIRES: "backend", "task" and "kernel" are there.
int eval_kernel(const CommandLine& line);

// REQUIRES: names_policy(line).
int eval_policy(const CommandLine& line);

// The result of an evaluation as text: verdict and reason, then one row a case.
std::string describe_evaluation(const Candidate& candidate, const Evaluation& evaluation);

}  // namespace krl::cli
