// A run's tasks and best kernels in the files of FlashInfer-Bench: docs/definitions.md.
#pragma once

#include <string>
#include <vector>

#include "core/plan/plan.hpp"
#include "core/plugin/components.hpp"
#include "core/run/run_directory.hpp"
#include "core/task/task.hpp"
#include "service/process/child_program.hpp"

namespace krl::service {

// The tasks of a plan's datasets, hold-outs included, each once.
Result<std::vector<Task>> tasks_of_plan(const Plan& plan, Components& components);

// Has scripts/import/export_definitions.py write FOLDER/definitions, workloads, blob, solutions and
// traces; files of the same names are replaced. Gives the script's exit code. An error: a file
// cannot be read or written, or Python cannot be started.
Result<int> write_definitions(const std::vector<Task>& tasks, const RunLayout& run,
                              const std::filesystem::path& folder, const ChildOptions& child);

}  // namespace krl::service
