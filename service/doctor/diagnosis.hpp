// The state of this machine: its features, the plugins that were found, and the components that
// work. Main thread, before any other thread runs.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/run/run_record.hpp"
#include "service/doctor/machine.hpp"
#include "service/doctor/trial.hpp"

namespace krl::service {

struct Diagnosis {
  struct Tried {
    const Component* component;
    Trial trial;
  };

  MachineRecord machine;
  std::vector<MachineFeature> features;
  std::map<std::string, int> folders;  // folders of plugins: numbers of components
  std::vector<Registry::Rejected> rejected;
  std::vector<Tried> tried;
};

// Returns the components called `id`; without one, those that depend on the machine: backends, then
// policies.
std::vector<const Component*> components_to_try(const Registry& registry, const std::string& id);

// Tries the components one after the other. `registry` outlives the result.
Diagnosis diagnose(const Registry& registry, const std::vector<const Component*>& components,
                   const TrialSettings& settings);

// "ok", "needs options", "fails".
const char* name_of(Trial::Outcome outcome);

nlohmann::ordered_json to_json(const Diagnosis& diagnosis);

}  // namespace krl::service
