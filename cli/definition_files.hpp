// A run's tasks and best kernels in the files of FlashInfer-Bench: docs/definitions.md.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/run/run_directory.hpp"
#include "core/task/task.hpp"

namespace krl::cli {
using namespace core;

// Has scripts/import/export_definitions.py write FOLDER/definitions, workloads, blob, solutions and
// traces; files of the same names are replaced. Gives the script's exit code. An error: a file
// cannot be read or written, or Python cannot be started.
Result<int> write_definitions(const std::vector<Task>& tasks, const RunLayout& run,
                              const std::filesystem::path& folder);

}  // namespace krl::cli
