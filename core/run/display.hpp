// What the user sees of a run: a live view on a terminal, one plain line an iteration elsewhere.
// The one printer of the program while a run is going on. Thread-safe; a Display outlives the run
// it shows.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "core/run/metrics.hpp"

namespace krl {

struct StageInfo {
  std::string name;
  int number = 1, of = 1;  // second of three stages: 2, 3
  int iterations = 0;      // planned; 0: unknown
  int done = 0;            // of them, before a resume
};

struct Progress {
  std::string phase;  // "sample", "evaluate", "learn"
  int done = 0, of = 0;
};

struct RunSummary {
  bool success = true;
  std::string message;              // "finished", "interrupted", or an error of one or more lines
  std::filesystem::path directory;  // where the results lie
  std::string resume_command = {};  // how it goes on; empty if it cannot
};

class Display {
 public:
  virtual ~Display() = default;

  virtual void stage_started(const StageInfo& stage) = 0;
  virtual void progress(const Progress& progress) = 0;
  virtual void iteration_finished(const IterationMetrics& metrics) = 0;
  virtual void warning(const std::string& text) = 0;  // to the error stream in a plain log
  // The user asked the run to end: after its iteration, or at once.
  virtual void stopping(bool at_once) = 0;
  virtual void finished(const RunSummary& summary) = 0;
};

// Whether `out` is a terminal that can redraw: TERM is not "dumb".
bool can_redraw(std::FILE* out);

// The live view of the run of this name if `out` can redraw, else the plain log. Colours unless
// NO_COLOR is set (no-color.org). Either goes to logs.log too.
std::unique_ptr<Display> make_display(const std::string& run, std::FILE* out, std::FILE* errors);

}  // namespace krl
