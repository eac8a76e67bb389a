// A display that leaves in logs.log what it says apart from the metrics: warnings, what the user
// asked for, and how the run ended. Thread-safe.
#pragma once

#include <memory>
#include <string_view>

#include "core/base/log.hpp"
#include "core/run/display.hpp"

namespace krl {

class LoggedDisplay final : public Display {
 public:
  explicit LoggedDisplay(std::unique_ptr<Display> screen) : screen_(std::move(screen)) {}

  void stage_started(const StageInfo& stage) override;
  void progress(const Progress& progress) override { screen_->progress(progress); }
  void iteration_finished(const IterationMetrics& metrics) override {
    screen_->iteration_finished(metrics);
  }
  void warning(const std::string& text) override;
  void stopping(bool at_once) override;
  void finished(const RunSummary& summary) override;

 private:
  const std::unique_ptr<Display> screen_;
};

// A text of one or more lines, each as an entry of its own.
void log_lines(Severity severity, std::string_view text);

}  // namespace krl
