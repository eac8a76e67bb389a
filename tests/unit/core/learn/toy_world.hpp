// Whole runs in this process, over the toy components: real plans, the real loop, real files, in
// milliseconds. One thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/experiment/trainer.hpp"
#include "core/plan/plan.hpp"
#include "core/plugin/registry.hpp"
#include "tests/scratch_folder.hpp"

namespace krl::test {
using namespace core;

using Overrides = std::vector<std::string>;  // "rollout.groups=4", as of --set

// How a run ended and what it wrote.
struct RunReport {
  std::string error;  // empty if it did not fail
  Outcome outcome = Outcome::kFinished;
  std::vector<IterationMetrics> metrics;  // of metrics.jsonl, without what is not repeatable
  std::vector<std::string> warnings;

  // The metric in every iteration that has it.
  std::vector<double> all(const std::string& metric) const;
  // metrics.jsonl again, one line an iteration.
  std::vector<std::string> lines() const;
};

class ToyWorld {
 public:
  ToyWorld() { registry(); }

  // Called after every iteration of a run, on this thread.
  std::function<void(const IterationMetrics&)> after_iteration;

  // Runs the toy plan with `tables` appended and `overrides` on top. Without a [[stage]] among the
  // tables it has one of reinforcement, "reinforce", with 8 iterations. Runs lie under folder().
  RunReport run(const Overrides& overrides = {}, const std::string& tables = {});
  RunReport resume(const Overrides& overrides = {}, const std::string& tables = {});

  // Ends the run under way after its iteration, as SIGINT does.
  void stop() { stop_ = true; }
  // Ends it at once, as a second SIGINT does.
  void cancel() { cancel_ = true; }

  // The plan as `run` would load it; the error names its place as it does for a user.
  Result<Plan> load(const Overrides& overrides = {}, const std::string& tables = {}) const;

  // Shared by all worlds of the process.
  static const Registry& registry();
  std::filesystem::path folder() const { return folder_.path(); }
  // runs/toy
  std::filesystem::path run_folder() const { return folder_ / "runs" / "toy"; }

 private:
  RunReport start(bool resume, const Overrides& overrides, const std::string& tables);

  ScratchFolder folder_;
  std::atomic<bool> stop_{false}, cancel_{false};
};

// The report of a run in a world of its own.
RunReport fresh_run(const Overrides& overrides = {}, const std::string& tables = {});

}  // namespace krl::test
