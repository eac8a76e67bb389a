// The components that a plan names, created with its options.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <string>

#include "core/base/result.hpp"
#include "core/plan/plan.hpp"
#include "core/plugin/backend.hpp"
#include "core/plugin/dataset.hpp"
#include "core/plugin/instance.hpp"
#include "core/plugin/registry.hpp"

namespace krl::core {

// Returns the scope of calls into plugins that the plan defines; `stop` ends them.
CallScope call_scope(const RunSettings& run, const std::atomic<bool>& stop);

// Creates components, and keeps backends and datasets, which several stages share: one with the
// same options is created once, and a backend is started once.
class Components {
 public:
  // Both outlive the object and everything it returns.
  Components(const Registry& registry, const CallScope& scope)
      : registry_(registry), scope_(scope) {}

  const Registry& registry() const { return registry_; }

  // Creates a Policy or Reward that is the caller's own.
  template <class Wrapped>
  Result<Wrapped> create(const ComponentSettings& settings) const {
    KRL_ASSIGN(Instance instance, create_instance(Wrapped::kKind, settings));
    return Wrapped(std::move(instance));
  }
  Result<const Backend*> backend(const ComponentSettings& settings);
  Result<const Dataset*> dataset(const ComponentSettings& settings);

 private:
  Result<Instance> create_instance(Kind kind, const ComponentSettings& settings) const;
  Result<Instance> create_isolated(const Component& component,
                                   const ComponentSettings& settings) const;

  const Registry& registry_;
  const CallScope& scope_;
  // The components that isolated instances refer to, by addresses that stay.
  mutable std::deque<Component> isolated_;
  std::map<std::string, std::unique_ptr<Backend>> backends_;  // keyed by identity_of
  std::map<std::string, std::unique_ptr<Dataset>> datasets_;
};

// Puts the error at its place in the plan: at the option that its text is about, or else at the
// component's `use`. It is about an option if it begins with its key ("layers must be even",
// "model.heads is 3", "'path': not there") or quotes it; or else if it contains the option's path.
// Only a value that the plan sets can be wrong there, never a default. The error keeps its code.
Error at_component(const ComponentSettings& settings, Error error);

}  // namespace krl::core
