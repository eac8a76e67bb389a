// A run: the stages of a plan, one after the other, from the beginning or from the newest
// checkpoint.
#pragma once

#include <atomic>

#include "core/base/result.hpp"
#include "core/journal/journal.hpp"
#include "core/plan/plan.hpp"
#include "core/plugin/components.hpp"

namespace krl::core {

enum class Outcome {
  kFinished,
  kNothingToDo,  // it had finished before
  kInterrupted,
};

// Blocks until the run ends, and tells the journal how. If it fails, its data up to then are on
// disk, and it continues from its newest checkpoint when resumed. `stop`: end after the iteration
// in progress, with a checkpoint. `components`: those that check_components() started, or new ones;
// they end before the journal is told. Everything else outlives the run.
Result<Outcome> run_plan(const Plan& plan, Components components, Journal& journal,
                         const std::atomic<bool>& stop);

}  // namespace krl::core
