// A run's tasks and best kernels in the files of FlashInfer-Bench: docs/definitions.md.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/run/run_directory.hpp"
#include "core/task/task.hpp"

namespace krl::cli {
using namespace core;

// Writes FOLDER/definitions, workloads, blob, solutions and traces; files of the same names are
// replaced. Returns a line on the written files, and one on each task that was left out with the
// reason. An error: a file cannot be read or written.
Result<std::string> write_definitions(const std::vector<Task>& tasks, const RunLayout& run,
                                      const std::filesystem::path& folder);

}  // namespace krl::cli
