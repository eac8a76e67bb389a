#include "serve/dialects/kernelbench_sources.hpp"

#include <filesystem>
#include <sstream>

#include "core/base/hash.hpp"
#include "core/plan/source.hpp"
#include "serve/dialects/environment.hpp"

namespace krl::serve::kernelgym {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "kernelbench/";

// As source_digest() of the importer does it.
std::string digest_of(const std::string& source) {
  std::istringstream lines(source);
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    line.erase(line.find_last_not_of(" \t\r") + 1);
    if (!line.empty()) text += line + "\n";
  }
  return sha256_hex(text);
}

// The digests of the problems that a report lists, by their keys, "1/19".
std::map<std::string, std::string> read_report(const fs::path& file) {
  std::map<std::string, std::string> digests;
  const auto text = read_text_file(file);
  const Json report = text ? Json::parse(*text, nullptr, false) : Json();
  if (!report.is_array()) return digests;
  for (const Json& problem : report)
    digests[text_in(problem, "problem")] = text_in(problem, "sha256");
  return digests;
}

// The file that the task was read from: OUT/level1/019_relu.toml.
fs::path file_of(const Task& task) {
  const Json definition = Json::parse(task.definition_json, nullptr, false);
  return definition.value(Json::json_pointer("/origin/file"), std::string());
}

}  // namespace

KernelBenchSources::KernelBenchSources(const TaskShelf& tasks) {
  std::map<fs::path, std::map<std::string, std::string>> reports;
  for (const TaskPointer& own : tasks.own()) {
    if (!own->task.id.starts_with(kPrefix)) continue;
    const fs::path report = file_of(own->task).parent_path().parent_path() / "report.json";
    const auto [read, is_new] = reports.try_emplace(report);
    if (is_new) read->second = read_report(report);
    const auto digest = read->second.find(own->task.id.substr(kPrefix.size()));
    if (digest != read->second.end()) by_digest_[digest->second] = own;
  }
}

Result<TaskPointer> KernelBenchSources::find(const std::string& source) const {
  const auto found = by_digest_.find(digest_of(source));
  if (found != by_digest_.end()) return found->second;
  return failure(
      Code::kNotFound,
      by_digest_.empty()
          ? "the server has no tasks of KernelBench; import them with scripts/import/kernelbench.py"
          : "reference_code is no problem of KernelBench that was imported here");
}

}  // namespace krl::serve::kernelgym
