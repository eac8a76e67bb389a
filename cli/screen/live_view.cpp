#include "cli/screen/live_view.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "cli/screen/headline.hpp"
#include "cli/screen/screen_line.hpp"
#include "core/base/text.hpp"

namespace krl::cli {

namespace {

constexpr std::size_t kHistory = 24;  // iterations in a sparkline
// Iterations that the estimate of the remaining time uses.
constexpr std::size_t kIterationsTimed = 8;
constexpr int kBar = 16;  // all of the first line fits 80 columns
constexpr int kSecondColumn = 26;

// The values as bars of eight heights between the least and the greatest; not-a-number is a gap.
std::string sparkline(const std::deque<double>& values) {
  constexpr std::array<std::string_view, 8> kHeights = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  double least = INFINITY, greatest = -INFINITY;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    least = std::min(least, value);
    greatest = std::max(greatest, value);
  }
  std::string line;
  for (const double value : values) {
    const double height = greatest > least ? (value - least) / (greatest - least) : 0.5;
    line +=
        std::isfinite(value) ? kHeights[static_cast<std::size_t>(std::lround(height * 7))] : " ";
  }
  return line;
}

// Compares with the mean of the five before it; a change under 1 % does not count.
std::string_view trend(const std::deque<double>& values) {
  constexpr std::size_t kBefore = 5;
  constexpr double kLeastChange = 0.01;
  const std::size_t before = std::min(values.size() - 1, kBefore);
  if (before == 0) return " ";
  double mean = 0;
  for (std::size_t i = values.size() - 1 - before; i + 1 < values.size(); ++i) mean += values[i];
  mean /= static_cast<double>(before);
  const double change = values.back() - mean;
  if (!std::isfinite(change)) return " ";
  if (std::fabs(change) <= kLeastChange * std::fabs(mean)) return "→";
  return change > 0 ? "▲" : "▼";
}

template <class Value>
void push_bounded(std::deque<Value>& queue, Value value, std::size_t most) {
  queue.push_back(value);
  if (queue.size() > most) queue.pop_front();
}

}  // namespace

void LiveView::stage_started(const StageInfo& stage) {
  const std::lock_guard lock(mutex_);
  stage_ = stage;
  progress_ = {};
  marks_.assign(1, terminal_.now());
  changed_ = true;
}

void LiveView::progress(const Progress& progress) {
  const std::lock_guard lock(mutex_);
  progress_ = progress;
  changed_ = true;
}

void LiveView::iteration_finished(const IterationMetrics& metrics) {
  const std::lock_guard lock(mutex_);
  ++stage_.done;
  progress_ = {};
  losses_ = losses_text(metrics.values);
  if (std::string best = best_text(metrics.values); !best.empty()) best_ = std::move(best);
  headline_ = headline(metrics.values, kMostMetrics);
  for (const std::string& name : headline_)
    push_bounded(history_[name], metrics.values.at(name), kHistory);
  push_bounded(marks_, terminal_.now(), kIterationsTimed + 1);
  changed_ = true;
}

void LiveView::warning(const std::string& text) {
  const std::string whole = "warning: " + one_line(text);
  ScreenLine line(static_cast<int>(whole.size()), terminal_.color);
  print_above(line.add(whole, Ink::kYellow).text());
}

void LiveView::stopping(bool at_once) {
  const std::lock_guard lock(mutex_);
  stopping_ = at_once ? Stopping::kAtOnce : Stopping::kAfterIteration;
  changed_ = true;
}

void LiveView::finished(const RunSummary& summary) {
  std::string text;
  for (const std::string& line : printable_lines(summary.message)) {
    ScreenLine shown(static_cast<int>(line.size()), terminal_.color);
    text += shown.add(line, summary.success ? Ink::kGreen : Ink::kRed).text() + "\n";
  }
  const std::string duration = clock();
  text += "results in " + summary.directory.string() +
          (duration.empty() ? "" : ", after " + duration) + "\n";
  if (!summary.resume_command.empty()) text += "resume with: " + summary.resume_command + "\n";
  const std::lock_guard lock(mutex_);
  over_ = true;
  const std::string before = erase();
  terminal_.write(before + render() + text);
  drawn_.clear();  // the lines on the screen stay
}

void LiveView::draw() {
  const std::lock_guard lock(mutex_);
  if (over_ || (!changed_ && clock() == clock_drawn_)) return;
  const std::string before = erase();
  terminal_.write(before + render());
  changed_ = false;
}

void LiveView::print_above(const std::string& line) {
  const std::lock_guard lock(mutex_);
  const std::string before = erase();
  terminal_.write(before + line + "\n" + (over_ ? "" : render()));
}

// Back to the first line of the view, and everything from there gone. A line that a narrower window
// has wrapped since takes several rows.
std::string LiveView::erase() const {
  const int columns = std::max(terminal_.size().columns, 1);
  int rows = 0;
  for (const int used : drawn_) rows += std::max(1, (used + columns - 1) / columns);
  return rows == 0 ? std::string() : "\x1b[" + std::to_string(rows) + "A\r\x1b[J";
}

std::string LiveView::render() {
  drawn_.clear();
  const TerminalSize size = terminal_.size();
  // One column is left free, since some terminals wrap when the last one is written.
  const int columns = std::max(size.columns - 1, 1);
  std::vector<ScreenLine> lines;
  if (!run_.empty() && !over_) lines.push_back(run_line(columns));
  if (stopping_ != Stopping::kNo && !over_) lines.push_back(stopping_line(columns));
  if (!stage_.name.empty()) lines.push_back(stage_line(columns));
  if (!progress_.phase.empty()) lines.push_back(progress_line(columns));
  if (!losses_.empty())
    lines.push_back(ScreenLine(columns, terminal_.color).add(losses_, Ink::kRed));
  for (const std::string& name : headline_) lines.push_back(metric_line(name, columns));
  if (!best_.empty()) lines.push_back(ScreenLine(columns, terminal_.color).add(best_, Ink::kBold));
  clock_drawn_ = clock();
  const auto fitting = static_cast<std::size_t>(std::max(size.rows - 1, 1));
  std::string text;
  for (std::size_t i = 0; i < std::min(lines.size(), fitting); ++i) {
    text += lines[i].text() + "\n";
    drawn_.push_back(lines[i].used());
  }
  return text;
}

// Returns how long the run has been shown; empty if that is not shown.
std::string LiveView::clock() const {
  const std::chrono::duration<double> shown = terminal_.now() - began_;
  return run_.empty() ? std::string() : clock_text(shown.count());
}

ScreenLine LiveView::run_line(int columns) const {
  ScreenLine line(columns, terminal_.color);
  line.add(one_line(run_), Ink::kBold).add("  ").add(clock());
  if (stopping_ == Stopping::kNo) line.add("  Ctrl-C stops after the iteration", Ink::kDim);
  return line;
}

// The line of its progress shows what it is busy with.
ScreenLine LiveView::stopping_line(int columns) const {
  const std::string text = stopping_text(stopping_ == Stopping::kAtOnce, stage_, {});
  return ScreenLine(columns, terminal_.color).add(text, Ink::kYellow);
}

ScreenLine LiveView::stage_line(int columns) const {
  ScreenLine line(columns, terminal_.color);
  line.add(one_line(stage_.name), Ink::kBold);
  if (stage_.of > 1)
    line.add(" (stage " + std::to_string(stage_.number) + " of " + std::to_string(stage_.of) + ")",
             Ink::kDim);
  line.tab(kSecondColumn).add("iteration " + std::to_string(stage_.done));
  if (stage_.iterations <= 0) return line;
  line.add(" of " + std::to_string(stage_.iterations)).add("  ");
  line.bar(static_cast<double>(stage_.done) / stage_.iterations, kBar);
  const double seconds = seconds_left();
  if (seconds > 0) line.add("  ").add(duration_text(seconds)).add(" left");
  return line;
}

ScreenLine LiveView::progress_line(int columns) const {
  ScreenLine line(columns, terminal_.color);
  line.add(one_line(progress_.phase));
  if (progress_.of > 0) {
    line.add(" ").add(std::to_string(progress_.done)).add("/").add(std::to_string(progress_.of));
    line.tab(kSecondColumn);
    line.bar(static_cast<double>(progress_.done) / progress_.of, kBar);
  }
  return line;
}

ScreenLine LiveView::metric_line(const std::string& name, int columns) const {
  const std::deque<double>& values = history_.at(name);
  ScreenLine line(columns, terminal_.color);
  line.add(one_line(name), Ink::kDim).tab(kSecondColumn).add(number_text(values.back()));
  line.add(" ").add(trend(values)).add("  ").add(sparkline(values), Ink::kGreen);
  return line;
}

// Estimates from the mean of the last iterations; 0 if nothing is known.
double LiveView::seconds_left() const {
  const int left = stage_.iterations - stage_.done;
  if (marks_.size() < 2 || left <= 0) return 0;
  const std::chrono::duration<double> spent = marks_.back() - marks_.front();
  return spent.count() / static_cast<double>(marks_.size() - 1) * left;
}

}  // namespace krl::cli
