// What the stages of a run work with: components created from the plan, tasks and pairs read,
// everything checked.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/episode/evaluations.hpp"
#include "core/episode/prompt.hpp"
#include "core/episode/score.hpp"
#include "core/learn/datasets.hpp"
#include "core/plan/plan.hpp"
#include "core/plugin/backend.hpp"
#include "core/plugin/dataset.hpp"
#include "core/plugin/policy.hpp"
#include "core/plugin/registry.hpp"

namespace krl {

// How calls into plugins are made, as the plan says; `stop` ends them.
CallScope call_scope(const RunSettings& run, const std::atomic<bool>& stop);

// Creates components and keeps those that several stages share: a backend with the same options is
// created once.
class Components {
 public:
  // Both outlive the object and everything it gives out.
  Components(const Registry& registry, const CallScope& scope)
      : registry_(registry), scope_(scope) {}

  const Registry& registry() const { return registry_; }

  // A Policy, Dataset or Reward of its own.
  template <class Wrapped>
  Result<Wrapped> create(const ComponentSettings& settings) const {
    KRL_ASSIGN(Instance instance, create_instance(Wrapped::kKind, settings));
    return Wrapped(std::move(instance));
  }
  Result<const Backend*> backend(const ComponentSettings& settings);

 private:
  Result<Instance> create_instance(Kind kind, const ComponentSettings& settings) const;

  const Registry& registry_;
  const CallScope& scope_;
  std::map<std::string, std::unique_ptr<Backend>> backends_;
};

// One stage, ready to run.
struct StageSetup {
  const Backend* backend = nullptr;
  BackendInfo backend_info;
  StageData data;
  std::optional<PromptBuilder> prompts;
  std::optional<Scorer> scorer;
  std::vector<std::string> terms;  // names of the reward terms
};

// Refuses batching that the policy cannot do.
Status check_batching(const ComponentSettings& sampler, const RolloutSettings& rollout,
                      const Registry& registry);

// Refuses, with the place in the plan, a reward that needs a signal which the backend does not
// give.
Result<StageSetup> set_up(const Settings& settings, Components& components);

// Lets the backend check every task, several at a time. All wrong ones are named; what is said of
// several is said once.
Status prepare_tasks(const StageSetup& setup, const Evaluations& evaluations);

// What the backend says of itself, with no more evaluations at a time than `threads` (run.threads)
// allows: 1024 where that is 0, whatever the backend asks for, which the log says. What is
// evaluated does not depend on it.
BackendInfo within_threads(const StageSetup& setup, std::int64_t threads);

// Only what can be known without work: every component of the plan but its policies can be created,
// rewards and backend fit together. What is wrong with the plan is the error. What only this
// machine lacks is not: a backend or dataset that does not start for want of it is among the
// results, and not held against the rewards. Nor is a policy that only samples, or a plan
// without stages: it can be evaluated, not run.
Result<std::vector<Error>> check_components(const Plan& plan, const Registry& registry);

}  // namespace krl
