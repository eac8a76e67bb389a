#include "core/run/plain_log.hpp"

#include "core/run/headline.hpp"

namespace krl {

namespace {

std::string iteration_line(const IterationMetrics& metrics, const StageInfo& stage) {
  std::string line = "iteration ";
  line += std::to_string(metrics.iteration) + "  " + printable(metrics.stage);
  line.append(" ").append(std::to_string(stage.done));
  if (stage.iterations > 0) line.append("/").append(std::to_string(stage.iterations));
  for (const std::string& name : headline(metrics.values, kMostMetrics))
    line += "  " + name + " " + number_text(metrics.values.at(name));
  const auto seconds = metrics.values.find("time_s/iteration");
  if (seconds != metrics.values.end()) line += "  " + duration_text(seconds->second);
  return line;
}

}  // namespace

void PlainLog::stage_started(const StageInfo& stage) {
  const std::lock_guard lock(mutex_);
  stage_ = stage;
}

void PlainLog::iteration_finished(const IterationMetrics& metrics) {
  const std::lock_guard lock(mutex_);
  ++stage_.done;
  print(out_, iteration_line(metrics, stage_));
}

void PlainLog::warning(const std::string& text) {
  const std::lock_guard lock(mutex_);
  print(errors_, "warning: " + printable(text));
}

void PlainLog::finished(const RunSummary& summary) {
  const std::lock_guard lock(mutex_);
  print(errors_, printable(summary.message) + "; results in " + summary.directory.string());
}

void PlainLog::print(std::FILE* stream, const std::string& line) {
  std::fputs((line + "\n").c_str(), stream);
  std::fflush(stream);
}

}  // namespace krl
