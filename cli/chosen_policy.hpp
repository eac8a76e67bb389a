// Shared by the commands that look at a policy: `kernelrl eval --plan`, `chat` and `export`. Main
// thread only.
#pragma once

#include <optional>
#include <string>

#include "cli/loaded_plan.hpp"
#include "core/plugin/components.hpp"
#include "core/plugin/policy.hpp"
#include "core/run/checkpoints.hpp"

namespace krl::cli {
using namespace core;

// Adds --plan, --run, --checkpoint, --stage and the options of add_plan_options.
void add_policy_options(CommandLine& line);

// True if the command names a policy at all.
bool names_policy(const CommandLine& line);

// A plan, one of its stages if it has any, and the policy's learned state.
struct ChosenPolicy {
  LoadedPlan loaded;
  std::size_t stage = 0;
  std::optional<Checkpoint> checkpoint;  // nothing: the policy as the plan describes it

  const Plan& plan() const { return loaded.plan; }
  const Settings& settings() const {
    return plan().stages.empty() ? plan().settings : plan().stage(stage);
  }
  // Empty if the plan has no stages.
  std::string stage_name() const {
    return plan().stages.empty() ? std::string() : plan().stages[stage].name;
  }
};

// The plan of --plan, or the one that the run of --run was made with; the stage of --stage, or else
// the last one of reinforcement; the checkpoint of --checkpoint, or the newest of --run. REQUIRES:
// names_policy.
Result<ChosenPolicy> choose_policy(const CommandLine& line);

// Shows the notes of the plan on the error stream.
void show_notes(const ChosenPolicy& chosen);

// Creates the policy and loads its learned state. An error if it could not answer yet.
Result<Policy> open_policy(const ChosenPolicy& chosen, Components& components);

}  // namespace krl::cli
