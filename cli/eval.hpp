// The parts of `kernelrl eval`: of a kernel file, of a folder or a table of them, and of a policy.
// Each takes the parsed command line, prints, and returns the exit code. Main thread only.
#pragma once

#include <functional>
#include <kernelrl/evaluation.hpp>

#include "cli/command_line.hpp"
#include "core/task/answer.hpp"
#include "service/kernels/kernel_judges.hpp"

namespace krl::cli {
using namespace service;

// The options of judges: --backend, --set, --sanitizer, --protocol, --contract and --holdout.
// REQUIRES: --contract, if it is there, is a contract's name.
JudgeOptions judge_options(const CommandLine& line);

// Finds or makes the task that a call is about.
using TaskFinder = std::function<Result<Task>(Components& components)>;

// REQUIRES: "backend" and "kernel" are there.
int eval_kernel(const CommandLine& line, const TaskFinder& find);

// REQUIRES: "backend" and "request" are there: the file of an evaluation request, or -.
int eval_request(const CommandLine& line);

// REQUIRES: "backend", "task" and "kernel" are there, and "kernel" is a folder or a table of other projects' records: each kernel is
// evaluated for its task, a few at a time. --output FILE gets one JSON line a kernel; a later call
// goes on where this one ended.
int eval_answers(const CommandLine& line);

// REQUIRES: names_policy(line).
int eval_policy(const CommandLine& line);

// The result of an evaluation as text: verdict and reason, then one row a case.
std::string describe_evaluation(const Candidate& candidate, const Evaluation& evaluation);

}  // namespace krl::cli
