// A run: the stages of a plan, one after the other, from the beginning or from the newest
// checkpoint.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/plan/plan.hpp"
#include "core/plugin/registry.hpp"
#include "core/run/display.hpp"

namespace krl {

struct RunOptions {
  bool resume = false;
  std::vector<std::string> command_line;  // for run.json
  // `stop`: end after the iteration under way, with a checkpoint. `cancel`: end at once; plugins
  // poll it. Both outlive the run.
  const std::atomic<bool>* stop = nullptr;
  const std::atomic<bool>* cancel = nullptr;
};

enum class Outcome { kFinished, kInterrupted };

// Blocks until the run ends. The error of a run that failed is also in its status.json; its data up
// to then are on disk, and `resume` goes on from its newest checkpoint.
Result<Outcome> run_plan(const Plan& plan, const Registry& registry, const RunOptions& options,
                         Display& display);

}  // namespace krl
