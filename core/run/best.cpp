#include "core/run/best.hpp"

#include <cmath>
#include <kernelrl/evaluation_json.hpp>
#include <kernelrl/language.hpp>

#include "core/base/file_system.hpp"
#include "core/base/hash.hpp"

namespace krl::core {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

Json parse_or_null(std::string_view text) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  return json.is_discarded() ? Json() : json;
}

std::string to_json(const BestKernel& kernel) {
  const Json json = {{"task", kernel.task},
                     {"iteration", kernel.iteration},
                     {"speedup", kernel.evaluation.speedup()},
                     {"source", kernel.source},
                     {"evaluation", nlohmann::json(kernel.evaluation)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

bool is_record(const Json& json) {
  return json.is_object() && json.contains("task") && json["task"].is_string() &&
         json.contains("speedup") && json["speedup"].is_number() && json.contains("source") &&
         json["source"].is_string();
}

}  // namespace

std::string file_name_of_task(std::string_view task) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  constexpr std::size_t kLongest = 120;  // well under the 255 bytes of file systems, with suffixes
  std::string name;
  for (const char c : task) {
    const auto byte = static_cast<unsigned char>(c);
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter || c == '_' || c == '-' || (c == '.' && !name.empty())) {
      name += c;
    } else {
      name += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  if (name.size() > kLongest)
    name = name.substr(0, kLongest) + "-" + sha256_hex(task).substr(0, 16);
  return name;
}

BestKernels::BestKernels(fs::path directory, FileSystem& files)
    : directory_(std::move(directory)), files_(&files) {}

Result<BestKernels> BestKernels::open(const fs::path& directory, FileSystem& files) {
  KRL_TRY(make_directories(files, directory));
  BestKernels best(directory, files);
  KRL_ASSIGN(const std::vector<fs::path> children, children_of(directory));
  for (const fs::path& record : children) {
    if (record.extension() != ".json") continue;
    KRL_ASSIGN(const std::string text, read_file(record));
    const Json json = parse_or_null(text);
    if (!is_record(json)) continue;  // not ours: a user's own file
    const std::string source = json["source"];
    best.written_[json["task"]] = json["speedup"];
    const std::string stem = fs::path(record).replace_extension().string();
    const Result<std::string> found = read_file(stem + std::string(extension_of(source)));
    if (!found || *found != source) KRL_TRY(best.write_source(stem, source));
  }
  best.speedups_ = best.written_;
  return best;
}

Status BestKernels::clear() {
  for (const auto& [task, speedup] : written_) {
    const std::string stem = (directory_ / file_name_of_task(task)).string();
    KRL_TRY(files_->remove(stem + ".json"));
    for (const std::string_view extension : kCandidateExtensions)
      KRL_TRY(files_->remove(stem + std::string(extension)));
  }
  speedups_.clear();
  written_.clear();
  return {};
}

Result<bool> BestKernels::offer(const BestKernel& kernel) {
  const auto known = speedups_.find(kernel.task);
  const double speedup = kernel.evaluation.speedup();
  if (!std::isfinite(speedup)) return invalid("the speedup of a best kernel must be finite");
  if (known != speedups_.end() && speedup <= known->second) return false;
  speedups_[kernel.task] = speedup;
  const auto written = written_.find(kernel.task);
  if (written != written_.end() && speedup <= written->second) return true;
  const std::string stem = (directory_ / file_name_of_task(kernel.task)).string();
  KRL_TRY(
      explain_full_disk(write_atomically(*files_, stem + ".json", to_json(kernel)), directory_));
  written_[kernel.task] = speedup;
  KRL_TRY(explain_full_disk(write_source(stem, kernel.source), directory_));
  return true;
}

Status BestKernels::write_source(const std::string& stem, const std::string& source) {
  for (const std::string_view extension : kCandidateExtensions) {
    if (extension != extension_of(source)) KRL_TRY(files_->remove(stem + std::string(extension)));
  }
  return write_atomically(*files_, stem + std::string(extension_of(source)), source);
}

}  // namespace krl::core
