// One stage, ready to run: components created from the plan, tasks and pairs read, everything
// checked.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/episode/judge.hpp"
#include "core/episode/prompt.hpp"
#include "core/episode/retrieval.hpp"
#include "core/episode/score.hpp"
#include "core/plan/plan.hpp"
#include "core/plugin/components.hpp"
#include "core/stage/stage_data.hpp"

namespace krl::core {

struct StageSetup {
  JudgeBackends backends;
  StageData data;
  std::optional<PromptBuilder> prompts;
  std::unique_ptr<Retrieval> retrieval;  // null: prompts show no documents
  std::optional<Scorer> scorer;
  std::vector<std::string> terms;  // names of the reward terms

  Judge judge() const { return Judge(backends); }
};

// Refuses batching that the policy cannot do.
Status check_batching(const ComponentSettings& sampler, const RolloutSettings& rollout,
                      const Registry& registry);

// The terms of the plan, created. `info`: null if it is not known which figures the backend
// measures; otherwise a term that needs another is refused, with its place in the plan.
Result<Scorer> create_scorer(const Settings& settings, const BackendInfo* info,
                             Components& components);

// Refuses, with the place in the plan, a reward that needs a signal which the backend does not
// give.
Result<StageSetup> set_up(const Settings& settings, Components& components);

// Checks only what can be known without work: every component but the policies can be created,
// rewards and backend fit together. A fault of this machine alone is no error, but is added to
// `missing`, by its message.
Status check_settings(const Settings& settings, const Plan& plan, Components& components,
                      std::map<std::string, Error>& missing);

}  // namespace krl::core
