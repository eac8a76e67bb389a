// The events of a run, for a front end that shows them: a terminal, a log, a server.
#pragma once

#include <filesystem>
#include <string>

#include "core/run/metrics.hpp"

namespace krl::core {

struct StageInfo {
  std::string name;
  int number = 1, of = 1;  // second of three stages: 2, 3
  int iterations = 0;      // planned; 0: unknown
  int done = 0;            // iterations done before a resume
};

struct Progress {
  std::string phase;  // "sample", "evaluate", "learn"
  int done = 0, of = 0;
};

struct RunSummary {
  bool success = true;
  std::string message;              // "finished", "interrupted", or an error of one or more lines
  std::filesystem::path directory;  // directory of the results
  std::string resume_command = {};  // continues the run; empty if it cannot be continued
};

// Outlives the run. Any thread may call it; a call returns soon, because the run waits for it.
class RunObserver {
 public:
  virtual ~RunObserver() = default;

  virtual void stage_started(const StageInfo& stage) = 0;
  virtual void progress(const Progress& progress) = 0;
  virtual void iteration_finished(const IterationMetrics& metrics) = 0;
  virtual void warning(const std::string& text) = 0;
  virtual void finished(const RunSummary& summary) = 0;
};

}  // namespace krl::core
