// `kernelrl tasks check --mutants N`: how many wrong kernels a backend refuses.
#pragma once

#include <vector>

#include "cli/command_line.hpp"
#include "cli/tasks.hpp"

namespace krl::cli {

// --mutants with --kernels, --seed, --least, --output and --json.
void add_mutant_options(CommandLine& line);

// Prints a table by task and by kind of change. Fails if a kernel that should be right is refused,
// if a mutant could not be judged, or if fewer are refused than --least says.
int check_mutants(const CommandLine& line, const std::vector<Task>& tasks, const Backend& backend);

}  // namespace krl::cli
