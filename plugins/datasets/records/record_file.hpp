// The records of a file: Parquet, or JSON lines. Memory does not grow with the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace krl::records {

// Used by one thread at a time.
class RecordFile {
 public:
  // `position` identifies the record in its file, ascending.
  using Visit = std::function<void(std::uint64_t position, const nlohmann::json& record)>;
  using Complain = std::function<void(const std::string& what)>;

  virtual ~RecordFile() = default;

  // The columns of every record, for a format that declares them; otherwise empty.
  virtual std::vector<std::string> columns() const = 0;

  // Visits every record and reads the named columns. Unreadable records are reported, "file:line:
  // why", and the scan continues.
  virtual void scan(const std::set<std::string>& columns, const Visit& visit,
                    const Complain& complain) = 0;

  // The columns named in the last scan, of one of the records that it visited; fast in ascending
  // order. Throws Failure with KRL_UNAVAILABLE if the file has changed since.
  virtual nlohmann::json read(std::uint64_t position) = 0;
};

// Opens a file by its name's ending: .parquet, .jsonl or .ndjson. Throws Failure with
// KRL_INVALID_ARGUMENT that names the file: unknown ending, unreadable, or not of that format.
std::unique_ptr<RecordFile> open_record_file(const std::filesystem::path& file);

std::unique_ptr<RecordFile> open_parquet(const std::filesystem::path& file);
std::unique_ptr<RecordFile> open_json_lines(const std::filesystem::path& file);

// Returns the file itself, or the files of these formats in the folder, recursively, in the order
// of their paths. Throws Failure with KRL_INVALID_ARGUMENT if there are none.
std::vector<std::filesystem::path> record_files(const std::filesystem::path& path);

}  // namespace krl::records
