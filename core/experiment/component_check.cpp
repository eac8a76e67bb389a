#include "core/experiment/component_check.hpp"

#include <map>

#include "core/experiment/policy_check.hpp"
#include "core/plan/node.hpp"
#include "core/plan/source.hpp"
#include "core/stage/stage_data.hpp"
#include "core/stage/stage_setup.hpp"

namespace krl::core {
namespace {

Error no_stages(const Plan& plan) {
  return problem_at(plan.document->origin, "a plan needs at least one [[stage]] to be run",
                    "add [[stage]] with name, kind = \"rl\" and iterations; `kernelrl eval --plan` "
                    "evaluates a policy without any");
}

}  // namespace

Result<std::vector<Error>> check_components(const Plan& plan, Components& components) {
  const Registry& registry = components.registry();
  std::map<std::string, Error> missing;  // keyed by message
  for (const Settings* settings : plan.in_force()) {
    KRL_TRY(check_settings(*settings, plan, components, missing));
  }
  KRL_ASSIGN(const PolicyInfos infos, preview(plan.policy, registry));
  const Status trainable = check_trainable(plan.policy, infos);
  if (trainable) KRL_TRY(check_policies(plan, infos, registry));
  std::vector<Error> errors;
  if (!trainable) errors.push_back(trainable.error());
  if (plan.stages.empty()) errors.push_back(no_stages(plan));
  for (auto& [message, error] : missing) errors.push_back(std::move(error));
  return errors;
}

Status check_data(const Plan& plan, Components& components) {
  for (const StageSettings& stage : plan.stages) {
    KRL_ASSIGN(const StageData data, read_datasets(stage.settings.datasets, components));
    KRL_TRY(check_data(stage, data));
  }
  return {};
}

}  // namespace krl::core
