#include "core/app/follower_call.hpp"

#include "core/app/console.hpp"
#include "core/app/exit_code.hpp"
#include "core/app/stop_signals.hpp"
#include "core/learn/setup.hpp"
#include "core/plugin/call_watch.hpp"

namespace krl {
namespace {

Status follow(const LoadedPlan& loaded) {
  const CallScope scope;
  const CallWatch watch(print_warning);
  Components components(loaded.registry, scope);
  KRL_ASSIGN(const Policy policy, components.create<Policy>(loaded.plan.policy));
  // A signal goes to all processes; from here on the one that runs the plan says when this one
  // ends.
  const StopSignals ignored;
  return policy.follow();
}

}  // namespace

std::optional<int> serve_as_follower(const LoadedPlan& loaded) {
  const auto component = loaded.registry.require(Kind::kPolicy, loaded.plan.policy.use);
  if (!component) return report(component.error());
  const auto follows = Policy::follows(**component);
  if (!follows) return report(follows.error());
  if (!*follows) return std::nullopt;
  const Status served = follow(loaded);
  if (served) return kDone;
  report(served.error());
  return kRunFailed;
}

}  // namespace krl
