#include "core/experiment/component_check.hpp"

#include <map>

#include "core/experiment/policy_check.hpp"
#include "core/plan/node.hpp"
#include "core/stage/stage_data.hpp"
#include "core/stage/stage_setup.hpp"

namespace krl::core {
namespace {

Problem no_stages(const Plan& plan) {
  return {plan.document->origin, "a plan needs at least one [[stage]] to be run",
          "add [[stage]] with name, kind = \"rl\" and iterations"};
}

}  // namespace

Result<Obstacles> check_components(const Plan& plan, Components& components) {
  const Registry& registry = components.registry();
  std::map<std::string, Error> missing;  // keyed by message
  for (const Settings* settings : plan.in_force()) {
    KRL_TRY(check_settings(*settings, plan, components, missing));
  }
  Obstacles obstacles;
  if (!plan.policy.use.empty()) {  // a plan without one judges kernels
    KRL_ASSIGN(const PolicyInfos infos, preview(plan.policy, registry));
    auto untrainable = why_untrainable(plan.policy, infos);
    if (untrainable && plan.learns()) {
      obstacles.learning.push_back(*std::move(untrainable));
    } else {
      KRL_TRY(check_policies(plan, infos, registry));
    }
  }
  if (plan.stages.empty()) obstacles.learning.push_back(no_stages(plan));
  for (auto& [message, error] : missing) obstacles.machine.push_back(std::move(error));
  return obstacles;
}

Status check_runnable(const Plan& plan, Components& components) {
  KRL_ASSIGN(const Obstacles obstacles, check_components(plan, components));
  for (const Problem& problem : obstacles.learning)
    return failure(problem_at(problem.origin, problem.message, problem.hint));
  for (const Error& error : obstacles.machine) return failure(error);
  return {};
}

Result<std::vector<StageData>> check_data(const Plan& plan, Components& components) {
  std::vector<StageData> stages;
  for (const Settings* settings : plan.in_force()) {
    KRL_ASSIGN(stages.emplace_back(), read_datasets(settings->datasets, components));
    if (!plan.stages.empty()) KRL_TRY(check_data(plan.stages[stages.size() - 1], stages.back()));
  }
  return stages;
}

}  // namespace krl::core
