// The display where nothing can be redrawn: one line an iteration, and nothing else, on `out`;
// warnings and the summary on `errors`. The part of a line that depends on the clock comes last.
#pragma once

#include <cstdio>
#include <mutex>

#include "cli/screen/display.hpp"

namespace krl::cli {

class PlainLog final : public Display {
 public:
  PlainLog(std::FILE* out, std::FILE* errors) : out_(out), errors_(errors) {}

  void stage_started(const StageInfo& stage) override;
  void progress(const Progress& progress) override;
  void iteration_finished(const IterationMetrics& metrics) override;
  void warning(const std::string& text) override;
  void stopping(bool at_once) override;
  void finished(const RunSummary& summary) override;

 private:
  void print(std::FILE* stream, const std::string& line);

  std::FILE* out_;
  std::FILE* errors_;
  std::mutex mutex_;
  StageInfo stage_;
  Progress progress_;
};

}  // namespace krl::cli
