// The runs under a folder (`runs/`), seen from outside: what `kernelrl runs` lists, shows, stops
// and follows. Reads only; never disturbs an active run.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/run/metrics.hpp"
#include "core/run/run_directory.hpp"

namespace krl::service {
using namespace core;

struct RunInfo {
  std::string name;
  std::filesystem::path directory;
  std::string state;  // running | finished | failed | interrupted | died (the process is gone
                      // without having recorded an exit status)
  pid_t process = 0;  // while running
  RunStatus status;   // the last heartbeat
  std::optional<IterationMetrics> last;  // the last complete iteration
};

// Lists runs alphabetically. A folder without a run in it is left out; for an absent `root` there
// are none.
Result<std::vector<RunInfo>> list_runs(const std::filesystem::path& root);

// A run under `root` by its name, or any by the path of its folder, "/home/x/runs/quickstart".
// kNotFound names the runs that exist.
Result<RunInfo> find_run(const std::filesystem::path& root, const std::string& name);

// The runs under `root` that were first started from this plan file, an absolute path.
Result<std::vector<RunInfo>> runs_of_plan(const std::filesystem::path& root,
                                          const std::filesystem::path& plan);

// Asks the run to stop (SIGTERM: it finishes its step and writes a checkpoint) and waits until its
// process is gone. kFailedPrecondition if it is not running, kDeadlineExceeded if it is still there
// after `patience`.
Status stop_run(const RunInfo& run, std::chrono::seconds patience);

// Deletes the run's folder and everything in it. kFailedPrecondition if it is running.
Status delete_run(const RunInfo& run);

// Follows a metrics file.
class MetricsTail {
 public:
  explicit MetricsTail(std::filesystem::path path) : path_(std::move(path)) {}

  // The lines that have been completed since the last call. When a resumed run has cut the file
  // back, the lines it writes again come again.
  Result<std::vector<IterationMetrics>> next();

 private:
  std::filesystem::path path_;
  std::string seen_;  // the file's whole lines at the last call
};

}  // namespace krl::service
