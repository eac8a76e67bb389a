#include "plugins/datasets/records/record_file.hpp"

#include <algorithm>
#include <kernelrl/values.hpp>

namespace krl::records {
namespace fs = std::filesystem;
namespace {

bool is_parquet(const fs::path& file) { return file.extension() == ".parquet"; }
bool is_json_lines(const fs::path& file) {
  return file.extension() == ".jsonl" || file.extension() == ".ndjson";
}

}  // namespace

std::unique_ptr<RecordFile> open_record_file(const fs::path& file) {
  if (is_parquet(file)) return open_parquet(file);
  if (is_json_lines(file)) return open_json_lines(file);
  throw Failure(KRL_INVALID_ARGUMENT, file.string() +
                                          ": its name does not end in .parquet, .jsonl "
                                          "or .ndjson, the formats that can be read");
}

std::vector<fs::path> record_files(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return {path};
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(path, error)) {
    if (is_parquet(entry.path()) || is_json_lines(entry.path())) files.push_back(entry.path());
  }
  if (error) throw Failure(KRL_INVALID_ARGUMENT, path.string() + ": " + error.message());
  if (files.empty())
    throw Failure(KRL_INVALID_ARGUMENT, path.string() + ": no .parquet, .jsonl or .ndjson in it");
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace krl::records
