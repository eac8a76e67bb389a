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

bool is_samples_file(const std::string& name) {
  return name.starts_with(kPrefix) && name.ends_with(kSuffix);
}

}  // namespace

SampleWriter::SampleWriter(fs::path directory, SampleLimits limits, FileSystem& files)
    : directory_(std::move(directory)), limits_(limits), files_(&files) {}

Result<SampleWriter> SampleWriter::open(const fs::path& directory, SampleLimits limits,
                                        FileSystem& files) {
  KRL_TRY(explain_full_disk(make_directories(files, directory), directory));
  return SampleWriter(directory, limits, files);
}

Status SampleWriter::write(int iteration, const std::vector<std::string>& records) {
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

Status SampleWriter::remove_old() {
  if (limits_.iterations_kept <= 0) return {};
  std::vector<fs::path> kept;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory_, error))
    if (is_samples_file(entry.path().filename())) kept.push_back(entry.path());
  if (error) return failure(file_error("read", directory_, error.value()));
  std::sort(kept.rbegin(), kept.rend());
  for (std::size_t i = static_cast<std::size_t>(limits_.iterations_kept); i < kept.size(); ++i)
    KRL_TRY(files_->remove(kept[i]));
  return {};
}

}  // namespace krl
