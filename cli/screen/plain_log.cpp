#include "cli/screen/plain_log.hpp"

#include "cli/screen/headline.hpp"
#include "core/base/text.hpp"

namespace krl::cli {

namespace {

std::string iteration_line(const IterationMetrics& metrics, const StageInfo& stage) {
  std::string line = "iteration ";
  line += std::to_string(metrics.iteration) + "  " + one_line(metrics.stage);
  line.append(" ").append(std::to_string(stage.done));
  if (stage.iterations > 0) line.append("/").append(std::to_string(stage.iterations));
  for (const std::string& name : headline(metrics.values, kMostMetrics))
    line += "  " + name + " " + number_text(metrics.values.at(name));
  if (const std::string losses = losses_text(metrics.values); !losses.empty())
    line += "  " + losses;
  const auto seconds = metrics.values.find("time_s/iteration");
  if (seconds != metrics.values.end()) line += "  " + duration_text(seconds->second);
  return line;
}

}  // namespace

void PlainLog::stage_started(const StageInfo& stage) {
  const std::lock_guard lock(mutex_);
  stage_ = stage;
}

void PlainLog::progress(const Progress& progress) {
  const std::lock_guard lock(mutex_);
  progress_ = progress;
}

void PlainLog::iteration_finished(const IterationMetrics& metrics) {
  const std::lock_guard lock(mutex_);
  ++stage_.done;
  progress_ = {};
  print(out_, iteration_line(metrics, stage_));
}

void PlainLog::warning(const std::string& text) {
  const std::lock_guard lock(mutex_);
  print(errors_, "warning: " + one_line(text));
}

void PlainLog::stopping(bool at_once) {
  const std::lock_guard lock(mutex_);
  print(errors_, stopping_text(at_once, stage_, progress_));
}

void PlainLog::finished(const RunSummary& summary) {
  const std::lock_guard lock(mutex_);
  const std::vector<std::string> lines = printable_lines(summary.message);
  const std::string results = "results in " + summary.directory.string();
  if (lines.size() == 1) {
    print(errors_, lines.front() + "; " + results);
  } else {
    for (const std::string& line : lines) print(errors_, line);
    print(errors_, results);
  }
  if (!summary.resume_command.empty()) print(errors_, "resume with: " + summary.resume_command);
}

void PlainLog::print(std::FILE* stream, const std::string& line) {
  std::fputs((line + "\n").c_str(), stream);
  std::fflush(stream);
}

}  // namespace krl::cli
