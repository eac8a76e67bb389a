// A running stage: what it is given, and how it ends.
#pragma once

#include <atomic>
#include <functional>

#include "core/base/clock.hpp"
#include "core/journal/journal.hpp"
#include "core/learn/checkpoint_worth.hpp"
#include "core/learn/policies.hpp"
#include "core/plan/plan.hpp"
#include "core/plugin/policy.hpp"
#include "core/stage/stage_setup.hpp"

namespace krl::core {

enum class StageEnd { kDone, kInterrupted };

// All of it outlives the stage.
struct StageContext {
  const Plan& plan;
  const StageSettings& stage;
  const StageSetup& setup;
  const Evaluations& evaluations;
  Policies& policies;
  const Policy& policy;  // the one that learns
  const PolicyInfo& policy_info;
  Journal& journal;
  Position& position;             // moved on after every iteration
  const std::atomic<bool>& stop;  // the user wants the run to end after this iteration

  bool checkpoint_due() const {
    return plan.checkpoint.every > 0 && position.stage_iteration % plan.checkpoint.every == 0;
  }

  // Rates the checkpoint after `iteration`, whose weights produced these metrics, if they hold all
  // that checkpoint.best names.
  Status rate_checkpoint(const Metrics& metrics, int iteration) const {
    const auto& best = plan.checkpoint.best;
    if (!best) return {};
    const auto worth =
        worth_of(best->expression, metrics, setup.terms, stage.settings.rollout.turns);
    return worth ? journal.rate_checkpoint(iteration, *worth) : Status();
  }

  void warn(const std::string& text) const { journal.warn(text); }

  // After an iteration: counts it, writes its metrics, and a checkpoint when one is due or the run
  // is to stop; `keep_state` puts the stage's state into the position before one. The `last` one of a stage leaves the checkpoint to the trainer, which makes it
  // together with the step to the next stage: a run killed in between would otherwise continue with
  // a stage that is over. Whether the run is to stop now: asked for once, so that a signal that
  // comes after it takes effect after the next iteration, which then has its checkpoint.
  Result<bool> finish_iteration(
      Metrics metrics, bool last, const std::function<void()>& keep_state = [] {}) const {
    ++position.iteration;
    ++position.stage_iteration;
    KRL_TRY(journal.iteration_finished(position, stage.name, std::move(metrics)));
    const bool stops = stop.load();
    const bool saves = !last && (checkpoint_due() || stops);
    if (last || saves) keep_state();
    if (saves) KRL_TRY(journal.save_checkpoint(position, policy));
    return stops;
  }
};

// A reinforcement stage: sample, evaluate, score, learn; again until the stage's condition holds.
Result<StageEnd> run_reinforcement(const StageContext& context);

// A search: the same without learning, until its budget is used up.
Result<StageEnd> run_search(const StageContext& context);

}  // namespace krl::core
