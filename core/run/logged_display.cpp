#include "core/run/logged_display.hpp"

#include "core/run/headline.hpp"

namespace krl {

void LoggedDisplay::stage_started(const StageInfo& stage) {
  log(Severity::kInfo, "stage '" + stage.name + "' (" + std::to_string(stage.number) + " of " +
                           std::to_string(stage.of) + ") after " + std::to_string(stage.done) +
                           " of its iterations");
  screen_->stage_started(stage);
}

void LoggedDisplay::warning(const std::string& text) {
  log_lines(Severity::kWarning, text);
  screen_->warning(text);
}

void LoggedDisplay::stopping(bool at_once) {
  log(Severity::kInfo, at_once ? "asked to stop at once" : "asked to stop after the iteration");
  screen_->stopping(at_once);
}

void LoggedDisplay::finished(const RunSummary& summary) {
  log_lines(summary.success ? Severity::kInfo : Severity::kError, summary.message);
  screen_->finished(summary);
}

void log_lines(Severity severity, std::string_view text) {
  for (const std::string& line : printable_lines(text)) log(severity, line);
}

}  // namespace krl
