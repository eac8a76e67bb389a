#include "service/plans/loaded_plan.hpp"

#include <algorithm>
#include <set>

#include "core/experiment/policy_check.hpp"
#include "core/learn/declared_metrics.hpp"
#include "core/learn/policies.hpp"
#include "core/plan/loader.hpp"
#include "core/plan/node.hpp"

namespace krl::service {
namespace fs = std::filesystem;
namespace {

// The components that a plan names.
std::set<Registry::Key> components_of(const Plan& plan) {
  std::set<Registry::Key> used;
  if (!plan.policy.use.empty()) used.emplace(Kind::kPolicy, plan.policy.use);
  for (const auto& part : {plan.policy.sampler, plan.policy.reference}) {
    if (part) used.emplace(Kind::kPolicy, part->use);
  }
  for (const Settings* settings : plan.in_force()) {
    used.emplace(Kind::kBackend, settings->backend.use);
    for (const ComponentSettings* other : settings->backend.others())
      used.emplace(Kind::kBackend, other->use);
    for (const auto& dataset : settings->datasets) used.emplace(Kind::kDataset, dataset.use);
    for (const auto& reward : settings->rewards) used.emplace(Kind::kReward, reward.use);
  }
  return used;
}

// Adds notes on surprising facts about the plugins and policies of a plan, each once.
void add_notes(const Registry& registry, Plan& plan) {
  std::vector<std::string> notes = registry.notes();
  for (const Registry::Key& used : components_of(plan)) {
    for (std::string& note : registry.notes_on(used)) notes.push_back(std::move(note));
  }
  for (const std::string& text : notes) {
    std::string note = "note: " + text;
    const bool known = std::find(plan.notes.begin(), plan.notes.end(), note) != plan.notes.end();
    if (!known) plan.notes.push_back(std::move(note));
  }
  for (std::string& note : policy_notes(plan, registry)) plan.notes.push_back(std::move(note));
}

// So that the plan finds its plugins again, wherever and however it is loaded.
void record_plugin_folders(Plan& plan, std::vector<fs::path> folders) {
  if (folders == plan.plugins.path) return;
  auto source = std::make_shared<Source>();
  source->name = "the call, KERNELRL_PLUGIN_PATH";
  Node path{Node::Array{}, {std::move(source), 0, 0, 1}};
  for (const fs::path& folder : folders)
    std::get<Node::Array>(path.value).push_back({folder.string(), path.origin});
  Node document = *plan.document;
  document.child("plugins", {}).set("path", {}, std::move(path));
  plan.document = std::make_shared<const Node>(std::move(document));
  plan.plugins.path = std::move(folders);
}

}  // namespace

Result<LoadedPlan> load_plan_of(const fs::path& file, const PlanOptions& options) {
  Registry registry;
  std::vector<fs::path> folders = options.plugin_folders;
  const auto catalog = [&](const PluginSettings& plugins) -> Result<Catalog> {
    folders.insert(folders.end(), plugins.path.begin(), plugins.path.end());
    folders = strangers_folders(folders);
    registry = Registry::load(plugin_folders(folders), plugins.replace);
    Catalog catalog = registry.catalog();
    catalog.metrics = declared_metrics();
    return catalog;
  };
  KRL_ASSIGN(Plan plan, load_plan(file, options.changes, catalog, options.over));
  record_plugin_folders(plan, std::move(folders));
  add_notes(registry, plan);
  return LoadedPlan{std::move(plan), std::move(registry)};
}

}  // namespace krl::service
