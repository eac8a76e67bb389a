#include "tests/plans/run_folder.hpp"

#include <algorithm>

#include "core/base/file_system.hpp"
#include "core/run/run_directory.hpp"

namespace krl::test {
using namespace core;

namespace fs = std::filesystem;

std::vector<IterationMetrics> metrics_in(const fs::path& run) {
  const std::string text = read_file(RunLayout{run}.metrics()).value_or("");
  std::vector<IterationMetrics> metrics;
  for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    auto line = parse_metrics_line(std::string_view(text).substr(begin, end - begin));
    if (!line) break;
    line->time = 0;
    std::erase_if(line->values, [](const auto& entry) { return !is_repeatable(entry.first); });
    metrics.push_back(std::move(*line));
  }
  return metrics;
}

std::vector<std::string> repeatable_lines(const fs::path& run) {
  std::vector<std::string> lines;
  for (const IterationMetrics& metrics : metrics_in(run)) lines.push_back(metrics_line(metrics));
  return lines;
}

std::vector<double> values_of(const std::vector<IterationMetrics>& metrics,
                              const std::string& name) {
  std::vector<double> values;
  for (const IterationMetrics& m : metrics) {
    if (const auto entry = m.values.find(name); entry != m.values.end())
      values.push_back(entry->second);
  }
  return values;
}

int newest_checkpoint(const fs::path& run) {
  constexpr std::string_view kStep = "step_";
  int newest = 0;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(RunLayout{run}.checkpoints(), ignored)) {
    const std::string name = entry.path().filename();
    if (name.starts_with(kStep)) newest = std::max(newest, std::stoi(name.substr(kStep.size())));
  }
  return newest;
}

}  // namespace krl::test
