// The results of a run as tables in the columns that other projects read: its samples, its
// evaluations and its best kernels.
#pragma once

#include <filesystem>
#include <string>

#include "core/base/result.hpp"
#include "core/run/run_directory.hpp"
#include "service/process/child_program.hpp"

namespace krl::service {

// Writes FOLDER/NAME.jsonl for every table, or FOLDER/NAME.parquet, and returns a line on each:
// "samples.jsonl: 4096 rows". Files of these names are replaced when the new ones are complete.
Result<std::string> write_run_tables(const RunLayout& run, const std::filesystem::path& folder,
                                     bool parquet, const ChildOptions& child);

}  // namespace krl::service
