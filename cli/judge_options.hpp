// The options by which commands name the judge that they open for others. Main thread only.
#pragma once

#include "cli/policy_options.hpp"

namespace krl::cli {

// Adds --plan, --backend, --tasks and the options of add_plan_options.
void add_judge_options(CommandLine& line);

// Says what is wrong with the options together; empty if nothing is.
std::string why_no_judge(const CommandLine& line);

// The plan, or the built-in configs/judge.toml with another backend and other tasks.
Result<LoadedPlan> load_judge(const CommandLine& line);

// The seed of the inputs that kernels get: a new one at each call, which nobody can guess.
std::uint64_t secret_seed();

}  // namespace krl::cli
