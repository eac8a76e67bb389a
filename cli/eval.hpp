// The parts of `kernelrl eval`: of a kernel, of several, and of a policy. Each takes the parsed
// command line, prints, and returns the exit code. Main thread only.
#pragma once

#include <functional>
#include <kernelrl/evaluation.hpp>

#include "cli/command_line.hpp"
#include "core/plugin/registry.hpp"
#include "core/task/answer.hpp"
#include "service/kernels/kernel_judges.hpp"

namespace krl::cli {
using namespace service;

// The judge that a call names, by --plan or by --backend, --set, --before and --sanitizer; by --protocol,
// --contract and --holdout besides.
struct ChosenJudge {
  Registry registry;
  JudgeOptions options;
};

// REQUIRES: "plan" or "backend" is there; --contract, if it is there, is a contract's name.
Result<ChosenJudge> choose_judge(const CommandLine& line);

// Finds or makes the task that a call is about.
using TaskFinder = std::function<Result<Task>(Components& components)>;

// These three REQUIRE what choose_judge does.
int eval_kernel(const CommandLine& line, const std::string& file, const TaskFinder& find);

// REQUIRES: "request" is there: the file of an evaluation request, or -.
int eval_request(const CommandLine& line);

// REQUIRES: "task" is there; `kernels` are files, or one folder, or one table of other projects'
// records. Each kernel is evaluated for its task, a few at a time. --output FILE gets one JSON line
// a kernel; a later call goes on where this one ended.
int eval_answers(const CommandLine& line, const Words& kernels);

// REQUIRES: names_policy(line).
int eval_policy(const CommandLine& line);

// The result of an evaluation as text: verdict and reason, then one row a case.
std::string describe_evaluation(const Candidate& candidate, const Evaluation& evaluation);

}  // namespace krl::cli
