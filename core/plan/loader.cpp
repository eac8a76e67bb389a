#include "core/plan/loader.hpp"

#include <utility>

#include "core/plan/built_in.hpp"
#include "core/plan/content_check.hpp"
#include "core/plan/layers.hpp"
#include "core/plan/overrides.hpp"
#include "core/plan/resolver.hpp"
#include "core/plan/schema.hpp"

namespace krl::core {
namespace fs = std::filesystem;
namespace {

tl::unexpected<Error> wrong(std::vector<Problem> problems) {
  return invalid(rendered(std::move(problems)));
}

// [plugins], before the complete check of the table.
PluginSettings plugins_of(const Node& document) {
  PluginSettings plugins;
  const auto texts = [&document](std::string_view key, const auto& take) {
    const Node* list = document.find_path(key);
    if (list == nullptr) return;
    for (const Node& element : list->elements()) {
      if (element.text() != nullptr) take(element);
    }
  };
  texts("plugins.path", [&](const Node& path) {
    plugins.path.push_back((path.origin.folder() / *path.text()).lexically_normal());
  });
  texts("plugins.replace", [&](const Node& id) { plugins.replace.push_back(*id.text()); });
  return plugins;
}

void name_run_after(const fs::path& file, Node& document) {
  if (document.find("run") == nullptr) document.set("run", {}, Node::table({}));
  Node* run = document.find("run");
  if (!run->is_table() || run->find("name") != nullptr) return;
  run->set("name", {}, Node{file.stem().string(), {}});
}

template <class Element>
std::vector<Element> read_list(const Node* list) {
  std::vector<Element> out;
  if (list == nullptr) return out;
  for (const Node& element : list->elements()) out.push_back(read_settings<Element>(&element));
  return out;
}

Settings read_tables(const Node& tables) {
  return {read_settings<BackendSettings>(tables.find("backend")),
          read_list<DatasetSettings>(tables.find("dataset")),
          read_settings<RolloutSettings>(tables.find("rollout")),
          read_settings<LearnSettings>(tables.find("learn")),
          read_settings<CurriculumSettings>(tables.find("curriculum")),
          read_settings<ArchiveSettings>(tables.find("archive")),
          read_settings<EvalSettings>(tables.find("eval")),
          read_settings<PromptSettings>(tables.find("prompt")),
          read_settings<RetrievalSettings>(tables.find("retrieval")),
          read_list<RewardSettings>(tables.find("reward"))};
}

// REQUIRES: nothing is wrong with the tree any more.
Plan plan_of(ResolvedTree tree) {
  const Node& root = tree.document;
  Plan plan;
  plan.run = read_settings<RunSettings>(root.find("run"));
  std::error_code ignored;
  plan.run.directory = fs::absolute(plan.run.directory / plan.run.name, ignored).lexically_normal();
  plan.plugins = read_settings<PluginSettings>(root.find("plugins"));
  plan.policy = read_settings<PolicySettings>(root.find("policy"));
  plan.checkpoint = read_settings<CheckpointSettings>(root.find("checkpoint"));
  plan.log = read_settings<LogSettings>(root.find("log"));
  plan.settings = read_tables(root);
  for (std::size_t i = 0; i < tree.stages.size(); ++i) {
    const Node& stage = root.find("stage")->elements()[i];
    plan.stages.push_back(read_settings<StageSettings>(&stage));
    plan.stages.back().settings = read_tables(tree.stages[i]);
  }
  plan.document = std::make_shared<const Node>(std::move(tree.document));
  return plan;
}

}  // namespace

Result<Plan> load_plan(const fs::path& name, const std::vector<std::string>& overrides,
                       const CatalogSource& catalog_source, const std::vector<fs::path>& over) {
  std::vector<Problem> problems;
  std::vector<std::string> notes;
  const fs::path file = plan_named(name);
  auto document = read_layers(file, over, overrides, problems, notes);
  if (!document) return wrong(std::move(problems));
  std::error_code ignored;
  const fs::path absolute = fs::absolute(file, ignored).lexically_normal();
  name_run_after(absolute, *document);

  KRL_ASSIGN(const Catalog catalog, catalog_source(plugins_of(*document)));
  check_replacements(*document, catalog, problems);
  ResolvedTree tree =
      resolve(std::move(*document), catalog, absolute.parent_path(), problems, notes);
  if (!problems.empty()) return wrong(std::move(problems));
  Plan plan = plan_of(std::move(tree));
  plan.file = absolute;
  plan.notes = std::move(notes);
  return plan;
}

Result<ComponentSettings> configure_component(Kind kind, const std::string& id,
                                              const std::vector<std::string>& overrides,
                                              const Catalog& catalog) {
  Node table = Node::table({});
  table.set("use", {}, Node{id, {}});
  std::vector<Problem> problems;
  std::vector<std::string> no_notes;  // a component has no lists that layers replace
  apply_overrides(table, overrides, problems, no_notes);
  std::error_code ignored;
  resolve_component(table, kind, rules_of<ComponentSettings>(), catalog, fs::current_path(ignored),
                    problems);
  if (!problems.empty()) return wrong(std::move(problems));
  return read_settings<ComponentSettings>(&table);
}

}  // namespace krl::core
