// The results of a run as tables in the columns that other projects read: its samples, its
// evaluations and its best kernels.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/run/run_directory.hpp"
#include "service/process/child_program.hpp"

namespace krl::service {

enum class ColumnType { kText, kInteger, kNumber, kBool };

struct Column {
  const char* name;
  ColumnType type;
};

struct RunTable {
  using Put = std::function<Status(const nlohmann::json& row)>;

  const char* name;  // name of its file
  std::span<const Column> columns;
  // Passes every row in turn, an object with these columns, null for an unknown value. An
  // unreadable part of the run is an error that names the file.
  Status (*read)(const RunLayout& run, const Put& put);
};

std::span<const RunTable> run_tables();

// Writes FOLDER/NAME.jsonl for every table, or FOLDER/NAME.parquet, and returns a line on each:
// "samples.jsonl: 4096 rows". Files of these names are replaced when the new ones are complete.
Result<std::string> write_run_tables(const RunLayout& run, const std::filesystem::path& folder,
                                     bool parquet, const ChildOptions& child);

}  // namespace krl::service
