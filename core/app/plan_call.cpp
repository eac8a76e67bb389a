#include "core/app/plan_call.hpp"

#include "core/plan/loader.hpp"

namespace krl {
namespace fs = std::filesystem;
namespace po = boost::program_options;
namespace {

ComponentKind kind_of(const Component& component) {
  switch (component.kind) {
    case Kind::kPolicy:
      return ComponentKind::kPolicy;
    case Kind::kBackend:
      return ComponentKind::kBackend;
    case Kind::kReward:
      return ComponentKind::kReward;
    case Kind::kDataset:
      return ComponentKind::kDataset;
  }
  return ComponentKind::kDataset;
}

KeyRule rule_of(const Field& field) {
  KeyRule rule;
  rule.key = field.key;
  rule.type = static_cast<ValueType>(field.type);
  rule.fallback = field.fallback;
  rule.range = field.range;
  rule.doc = field.doc;
  rule.required = (field.flags & KRL_REQUIRED) != 0;
  rule.secret = (field.flags & KRL_SECRET) != 0;
  return rule;
}

std::vector<fs::path> plugin_paths(const CallLine& line) {
  const Words paths = line.texts("plugin-path");
  return {paths.begin(), paths.end()};
}

}  // namespace

void add_plugin_path_option(CallLine& line) {
  line.options()("plugin-path", po::value<Words>()->value_name("DIR"),
                 "a folder with plugins, searched first (repeatable)");
}

void add_plan_options(CallLine& line) {
  line.options()("set", po::value<Words>()->value_name("KEY=VALUE"),
                 "change the plan: rollout.groups=4, stage.reinforce.iterations=3 (repeatable)");
  add_plugin_path_option(line);
}

Registry load_registry(const CallLine& line) {
  return Registry::load(plugin_folders(plugin_paths(line)));
}

Result<LoadedPlan> load_plan_of(const fs::path& file, const CallLine& line) {
  Registry registry;
  const auto catalog = [&](const std::vector<fs::path>& folders_of_plan) -> Result<Catalog> {
    std::vector<fs::path> folders = plugin_paths(line);
    folders.insert(folders.end(), folders_of_plan.begin(), folders_of_plan.end());
    registry = Registry::load(plugin_folders(folders));
    return catalog_of(registry);
  };
  KRL_ASSIGN(Plan plan, load_plan(file, line.texts("set"), catalog));
  return LoadedPlan{std::move(plan), std::move(registry)};
}

Catalog catalog_of(const Registry& registry) {
  Catalog catalog;
  for (const Component* component : registry.all()) {
    CatalogEntry entry{kind_of(*component), component->id, {}};
    for (const Field& field : component->fields) entry.keys.push_back(rule_of(field));
    catalog.entries.push_back(std::move(entry));
  }
  for (const Registry::Rejected& rejected : registry.rejected()) {
    catalog.refused.push_back(rejected.path.string() + ": " + rejected.why);
  }
  return catalog;
}

}  // namespace krl
