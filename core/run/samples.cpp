#include "core/run/samples.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <system_error>

#include "core/run/full_disk.hpp"

namespace krl {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kPrefix = "iteration_";
constexpr std::string_view kSuffix = ".jsonl";

std::string file_name(int iteration) {
  std::array<char, 40> name{};
  std::snprintf(name.data(), name.size(), "iteration_%06d.jsonl", iteration);
  return name.data();
}

// Sorted by name, which is by iteration.
Result<std::vector<fs::path>> sample_files(const fs::path& directory) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename();
    if (name.starts_with(kPrefix) && name.ends_with(kSuffix)) files.push_back(entry.path());
  }
  if (error) return failure(file_error("read", directory, error.value()));
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

SampleWriter::SampleWriter(fs::path directory, SampleLimits limits, FileSystem& files)
    : directory_(std::move(directory)), limits_(limits), files_(&files) {}

Result<SampleWriter> SampleWriter::open(const fs::path& directory, int last_iteration,
                                        SampleLimits limits, FileSystem& files) {
  KRL_TRY(explain_full_disk(make_directories(files, directory), directory));
  SampleWriter writer(directory, limits, files);
  KRL_TRY(writer.remove_after(last_iteration));
  return writer;
}

Status SampleWriter::write(int iteration, const std::vector<std::string>& records) {
  if (records.empty()) return {};
  const std::uintmax_t limit = limits_.bytes_per_iteration;
  std::string text;
  std::size_t written = 0;
  for (; written < records.size(); ++written) {
    if (limit > 0 && text.size() + records[written].size() + 1 > limit) break;
    text += records[written] + "\n";
  }
  if (written < records.size())
    text += "{\"left_out\":" + std::to_string(records.size() - written) + "}\n";
  const fs::path path = directory_ / file_name(iteration);
  KRL_TRY(explain_full_disk(write_atomically(*files_, path, text, Durability::kFast), directory_,
                            text.size()));
  return remove_old();
}

Status SampleWriter::remove_after(int last_iteration) {
  KRL_ASSIGN(const std::vector<fs::path> found, sample_files(directory_));
  for (const fs::path& file : found)
    if (file.filename() > file_name(last_iteration)) KRL_TRY(files_->remove(file));
  return {};
}

Status SampleWriter::remove_old() {
  if (limits_.iterations_kept <= 0) return {};
  KRL_ASSIGN(std::vector<fs::path> found, sample_files(directory_));
  const auto kept = static_cast<std::size_t>(limits_.iterations_kept);
  for (; found.size() > kept; found.erase(found.begin())) KRL_TRY(files_->remove(found.front()));
  return {};
}

}  // namespace krl
