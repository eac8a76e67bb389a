#include "core/plan/loader.hpp"

#include <utility>

#include "core/plan/builder.hpp"
#include "core/plan/layers.hpp"
#include "core/plan/overrides.hpp"
#include "core/plan/resolver.hpp"
#include "core/plan/schema.hpp"

namespace krl {
namespace fs = std::filesystem;
namespace {

tl::unexpected<Error> wrong(std::vector<Problem> problems) {
  return invalid(rendered(std::move(problems)));
}

// The folders of [plugins] path, before the table is checked for good.
std::vector<fs::path> plugin_folders_of(const Node& document) {
  std::vector<fs::path> folders;
  const Node* paths = document.find_path("plugins.path");
  if (paths == nullptr) return folders;
  for (const Node& path : paths->elements()) {
    if (path.text() == nullptr) continue;
    folders.push_back((path.origin.folder() / *path.text()).lexically_normal());
  }
  return folders;
}

void name_run_after(const fs::path& file, Node& document) {
  if (document.find("run") == nullptr) document.set("run", {}, Node::table({}));
  Node* run = document.find("run");
  if (!run->is_table() || run->find("name") != nullptr) return;
  Node name;
  name.value = file.stem().string();
  run->set("name", {}, std::move(name));
}

}  // namespace

Result<Plan> load_plan(const fs::path& file, const std::vector<std::string>& overrides,
                       const CatalogSource& catalog_source) {
  std::vector<Problem> problems;
  auto document = read_layers(file, overrides, problems);
  if (!document) return wrong(std::move(problems));
  std::error_code ignored;
  const fs::path absolute = fs::absolute(file, ignored).lexically_normal();
  name_run_after(absolute, *document);

  KRL_ASSIGN(const Catalog catalog, catalog_source(plugin_folders_of(*document)));
  ResolvedTree tree = resolve(std::move(*document), catalog, absolute.parent_path(), problems);
  if (!problems.empty()) return wrong(std::move(problems));
  Plan plan = build_plan(std::move(tree));
  plan.file = absolute;
  return plan;
}

Result<ComponentSettings> configure_component(Kind kind, const std::string& id,
                                              const std::vector<std::string>& overrides,
                                              const Catalog& catalog) {
  Node table = Node::table({});
  Node name;
  name.value = id;
  table.set("use", {}, std::move(name));
  std::vector<Problem> problems;
  apply_overrides(table, overrides, problems);
  std::error_code ignored;
  resolve_component(table, kind, rules_of<ComponentSettings>(), catalog, fs::current_path(ignored),
                    problems);
  if (!problems.empty()) return wrong(std::move(problems));
  return read_settings<ComponentSettings>(&table);
}

}  // namespace krl
