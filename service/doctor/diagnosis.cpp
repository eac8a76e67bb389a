#include "service/doctor/diagnosis.hpp"

#include "core/plan/built_in.hpp"

namespace krl::service {

std::vector<const Component*> components_to_try(const Registry& registry, const std::string& id) {
  std::vector<Kind> kinds = {Kind::kBackend, Kind::kPolicy};
  if (!id.empty()) kinds.insert(kinds.end(), {Kind::kReward, Kind::kDataset});
  std::vector<const Component*> chosen;
  for (const Kind kind : kinds) {
    for (const auto& [key, component] : registry.all()) {
      if (component.kind != kind) continue;
      if (id.empty() || component.id == id) chosen.push_back(&component);
    }
  }
  return chosen;
}

Diagnosis diagnose(const Registry& registry, const std::vector<const Component*>& components,
                   const TrialSettings& settings) {
  Diagnosis found{this_machine(), machine_features(), {}, registry.rejected(), {}};
  for (const auto& [key, component] : registry.all()) {
    ++found.folders[component.plugin.path.parent_path().string()];
  }
  for (const Component* component : components) {
    found.tried.push_back({component, try_component(*component, registry, settings)});
  }
  return found;
}

const char* name_of(Trial::Outcome outcome) {
  switch (outcome) {
    case Trial::kWorks:
      return "ok";
    case Trial::kNeedsOptions:
      return "needs options";
    case Trial::kFails:
      break;
  }
  return "fails";
}

nlohmann::ordered_json to_json(const Diagnosis& diagnosis) {
  using Json = nlohmann::ordered_json;
  Json features = Json::array(), folders = Json::array(), rejected = Json::array(),
       components = Json::array();
  for (const MachineFeature& f : diagnosis.features) {
    features.push_back({{"name", f.name}, {"found", f.found}, {"problem", f.problem}});
  }
  for (const auto& [path, count] : diagnosis.folders) {
    folders.push_back({{"path", path}, {"components", count}});
  }
  for (const Registry::Rejected& r : diagnosis.rejected) {
    rejected.push_back({{"path", r.path.string()}, {"why", r.why}});
  }
  for (const auto& [component, trial] : diagnosis.tried) {
    Json findings = Json::object();
    for (const auto& [name, value] : trial.findings) findings[name] = value;
    components.push_back({{"kind", name_of(component->kind)},
                          {"id", component->id},
                          {"outcome", name_of(trial.outcome)},
                          {"text", trial.text},
                          {"findings", findings}});
  }
  return {{"version", KERNELRL_VERSION},
          {"machine",
           {{"processor", diagnosis.machine.processor},
            {"cores", diagnosis.machine.cores},
            {"memory_gib", diagnosis.machine.memory_gib},
            {"system", diagnosis.machine.system},
            {"features", features}}},
          {"configs", built_in_configs().string()},
          {"plugins", {{"folders", folders}, {"not_loaded", rejected}}},
          {"components", components}};
}

}  // namespace krl::service
