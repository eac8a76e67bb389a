// The live view of a run on a terminal: a few lines at the bottom, redrawn in place with ANSI
// escapes.
//   quickstart  12:05  Ctrl-C stops after the iteration
//   reinforce (stage 2 of 2)   iteration 7 of 20   ██████████░░░░░░░░░░   3 min 20 s left
//   evaluate  84/128           ████████████░░░░░░░
//   kernel/pass_rate   0.8125 ▲  ▁▂▃▅▆▇
//   best kernels  1.84 times naive, of 6 tasks; softmax_rows 4.21
// Events only change what is known; `draw` shows it, so the caller of `draw` sets the pace
// (make_display: 10 times a second). The terminal's modes are never changed, so there is nothing to
// restore, whatever way the process ends. Thread-safe.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "cli/screen/display.hpp"
#include "cli/screen/screen_line.hpp"

namespace krl::cli {

struct TerminalSize {
  int columns = 80, rows = 24;
};

// The terminal as the view needs it; tests have their own.
struct Terminal {
  std::function<void(std::string_view)> write;
  std::function<TerminalSize()> size;
  std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
  bool color = true;
};

class LiveView : public Display {
 public:
  // `run`: its name; empty for a view without the line about the run as a whole.
  explicit LiveView(Terminal terminal, std::string run = {})
      : terminal_(std::move(terminal)), run_(std::move(run)), began_(terminal_.now()) {}

  void stage_started(const StageInfo& stage) override;
  void progress(const Progress& progress) override;
  void iteration_finished(const IterationMetrics& metrics) override;
  void warning(const std::string& text) override;
  void stopping(bool at_once) override;
  void finished(const RunSummary& summary) override;

  // Redraws the view if anything has changed since the last time, the clock among it.
  void draw();

 private:
  void print_above(const std::string& line);
  std::string erase() const;
  std::string render();
  std::string clock() const;
  ScreenLine run_line(int columns) const;
  ScreenLine stopping_line(int columns) const;
  ScreenLine stage_line(int columns) const;
  ScreenLine progress_line(int columns) const;
  ScreenLine metric_line(const std::string& name, int columns) const;
  double seconds_left() const;

  Terminal terminal_;
  const std::string run_;
  const std::chrono::steady_clock::time_point began_;
  std::mutex mutex_;
  bool changed_ = false;
  bool over_ = false;
  std::vector<int> drawn_;  // columns of each line on the screen now

  std::string clock_drawn_;
  enum class Stopping { kNo, kAfterIteration, kAtOnce } stopping_ = Stopping::kNo;
  StageInfo stage_;
  Progress progress_;
  std::string losses_;  // losses of the last iteration
  std::string best_;    // the best kernels so far
  std::vector<std::string> headline_;
  std::map<std::string, std::deque<double>> history_;  // the newest last
  // When the last iterations ended, and before them when the first of them began.
  std::deque<std::chrono::steady_clock::time_point> marks_;
};

}  // namespace krl::cli
