// Finds demands of a plan that its policies cannot meet.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/learn/policies.hpp"
#include "core/plan/plan.hpp"
#include "core/plan/source.hpp"
#include "core/plugin/policy.hpp"
#include "core/plugin/registry.hpp"

namespace krl::core {

// The known properties of a plan's policies.
struct PolicyInfos {
  std::optional<PolicyInfo> learner, sampler, reference;
};

// Asks the policies' describe(), or, before they are created, their plugins.
Result<PolicyInfos> describe(const Policies& policies);
Result<PolicyInfos> preview(const PolicySettings& settings, const Registry& registry);

// The error, at its place in the plan, of a policy from scratch that gets no texts to start with.
Error needs_texts(const PolicySettings& settings);

// The problem of a policy that only samples; none if it learns, or if that is unknown.
std::optional<Problem> why_untrainable(const PolicySettings& settings, const PolicyInfos& infos);

// Surprising properties of a plan's policies that are not errors, as far as they are known without
// starting one: an answer that cannot be as long as the plan allows.
std::vector<std::string> policy_notes(const Plan& plan, const Registry& registry);

// Refuses, at its place in the plan, stages that the policies cannot support: learning at all, from
// scratch without texts, by that loss, from such log-probabilities; handing over weights; sampling ahead. Unknown properties
// are not errors.
Status check_policies(const Plan& plan, const PolicyInfos& infos, const Registry& registry);

}  // namespace krl::core
