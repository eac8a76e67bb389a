// A policy of a plan or a run, with its learned state: for all that looks at a policy without
// training it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/plugin/components.hpp"
#include "core/plugin/policy.hpp"
#include "core/run/checkpoints.hpp"
#include "service/plans/loaded_plan.hpp"

namespace krl::service {

// Names a policy; an empty text names nothing.
struct PolicyChoice {
  std::string plan;        // its file; empty: the plan that the run was made with
  std::string run;         // its newest checkpoint is taken
  std::string checkpoint;  // the folder of one
  std::string stage;       // empty: the last one of reinforcement
  PlanOptions options;
};

// A plan, one of its stages if it has any, and the policy's learned state.
struct ChosenPolicy {
  LoadedPlan loaded;
  std::size_t stage = 0;
  std::optional<Checkpoint> checkpoint;  // nothing: the policy as the plan describes it
  std::vector<std::string> warnings;     // about checkpoints that were passed over

  const Plan& plan() const { return loaded.plan; }
  const Settings& settings() const {
    return plan().stages.empty() ? plan().settings : plan().stage(stage);
  }
  // Empty if the plan has no stages.
  std::string stage_name() const {
    return plan().stages.empty() ? std::string() : plan().stages[stage].name;
  }
};

Result<ChosenPolicy> choose_policy(const PolicyChoice& choice);

// Creates the policy and loads its learned state. An error if it could not answer yet.
Result<Policy> open_policy(const ChosenPolicy& chosen, Components& components);

}  // namespace krl::service
