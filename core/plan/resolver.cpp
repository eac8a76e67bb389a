#include "core/plan/resolver.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "core/plan/content_check.hpp"
#include "core/plan/key_check.hpp"
#include "core/plan/layers.hpp"
#include "core/plan/schema.hpp"

namespace krl::core {
namespace {

std::optional<Kind> component_of(std::string_view table) {
  for (const Kind kind : {Kind::kPolicy, Kind::kBackend, Kind::kReward, Kind::kDataset}) {
    if (name_of(kind) == table) return kind;
  }
  return std::nullopt;
}

// Returns the tables of components of the same kind within a component. Entries that are no such
// tables are reported elsewhere.
template <class Table>
std::vector<Table*> parts_of(Table& component, Kind kind) {
  std::vector<Table*> parts;
  for (const KeyRule& rule : table_rules(name_of(kind)).keys) {
    Table* part = holds_components(rule.type) ? component.find(rule.key) : nullptr;
    if (part == nullptr) continue;
    if (part->is_table()) parts.push_back(part);
    if (!part->is_list_of_tables()) continue;
    for (auto& table : std::get<Node::Array>(part->value)) parts.push_back(&table);
  }
  return parts;
}

// Overwrites what `given` has with the checked values of the same keys.
void take_checked(Node& given, const Node& checked) {
  if (!given.is_table() || !checked.is_table()) {
    given = checked;
    return;
  }
  for (Entry& entry : std::get<Node::Table>(given.value)) {
    if (const Node* value = checked.find(entry.key)) take_checked(entry.value, *value);
  }
}

// Makes the interpreters of components in Python paths, and gives them to those that name none.
void lend_interpreter(Node& node, const Node* lent, const std::filesystem::path& folder) {
  if (node.is_array()) {
    for (Node& element : std::get<Node::Array>(node.value)) lend_interpreter(element, lent, folder);
  }
  if (!node.is_table()) return;
  const auto make_path = [&](Node& executable) {
    const std::string* text = executable.text();
    if (text != nullptr && text->find('/') != std::string::npos) make_absolute(executable, folder);
  };
  Node* own = node.find("executable");
  if (own != nullptr) {
    make_path(*own);
  } else if (lent != nullptr && node.text_at("use") == "python") {
    node.set("executable", lent->origin, *lent);
  }
  for (Entry& entry : std::get<Node::Table>(node.value))
    lend_interpreter(entry.value, lent, folder);
}

class Resolver {
 public:
  Resolver(Node document, const Catalog& catalog, const std::filesystem::path& folder,
           std::vector<Problem>& problems, std::vector<std::string>& notes)
      : document_(std::move(document)),
        catalog_(catalog),
        folder_(folder),
        problems_(problems),
        notes_(notes) {}

  ResolvedTree run() {
    refuse_additions(document_, false, problems_);
    check_top_level();
    lend_interpreters();
    const Node unresolved = document_;  // stages override the text of the plan, not the defaults
    for (const TableRules& rules : plan_schema()) {
      if (rules.name != "stage") check(document_, rules);
    }
    check_stages(unresolved);
    check_retrieval(document_, stages_.empty() ? std::vector<Node>{document_} : stages_);
    if (const Node* checkpoint = document_.find("checkpoint"))
      check_best(*checkpoint, stages_, catalog_.metrics, problems_);
    note_paths();
    return {std::move(document_), std::move(stages_)};
  }

 private:
  void check_top_level() {
    std::vector<std::string> known = {"add", "include"};
    for (const TableRules& rules : plan_schema()) known.push_back(rules.name);
    std::ranges::sort(known);
    const auto is_known = [&known](const Entry& entry) {
      return std::ranges::find(known, entry.key) != known.end();
    };
    for (const Entry& entry : document_.entries()) {
      if (is_known(entry)) continue;
      std::string hint = spelling_hint(entry.key, known, "tables");
      for (const TableRules& rules : plan_schema()) {
        const bool belongs = std::ranges::any_of(
            rules.keys, [&](const KeyRule& key) { return key.key == entry.key; });
        if (belongs && !entry.value.is_table()) hint = "it belongs in [" + rules.name + "]";
      }
      const std::string what =
          entry.value.is_table() ? "table [" + entry.key + "]" : "key '" + entry.key + "'";
      report(entry.origin, "unknown " + what, hint);
    }
    std::erase_if(std::get<Node::Table>(document_.value),
                  [&](const Entry& entry) { return !is_known(entry); });
  }

  void lend_interpreters() {
    if (Node* python = document_.find("python")) lend_interpreter(*python, nullptr, folder_);
    const Node* found = document_.find_path("python.executable");
    const auto lent = found != nullptr ? std::optional<Node>(*found) : std::nullopt;
    lend_interpreter(document_, lent ? &*lent : nullptr, folder_);
  }

  // Checks table `rules.name` of `parent`, which is the plan or a stage's merged copy.
  void check(Node& parent, const TableRules& rules) {
    Node* table = parent.find(rules.name);
    const auto kind = component_of(rules.name);
    const bool optional = rules.list || kind || rules.name == "curriculum" ||
                          rules.name == "archive" ||
                          (rules.name == "retrieval" && !has_role(parent, "retrieval"));
    if (table == nullptr && optional) return;
    if (table == nullptr) table = &parent.child(rules.name, {});
    if (rules.list) return check_list(*table, rules);
    if (!table->is_table()) {
      report(table->origin,
             "'" + rules.name + "' must be a table, not " + std::string(table->kind()),
             "write [" + rules.name + "]");
      parent.erase(rules.name);
    } else if (kind) {
      for (Node* part : parts_of(*table, *kind))
        resolve_component(*part, *kind, rules_of<ComponentSettings>(), catalog_, folder_,
                          problems_);
      resolve_component(*table, *kind, rules.keys, catalog_, folder_, problems_);
    } else {
      check_table(*table, rules.keys, {"in [" + rules.name + "]", {}, folder_}, problems_);
      if (rules.name == "prompt") check_templates(*table, problems_);
      if (rules.name == "run") check_run_name(*table, problems_);
    }
  }

  void check_list(Node& list, const TableRules& rules) {
    if (!list.is_list_of_tables()) {
      report(list.origin, "'" + rules.name + "' must be a list of tables",
             "write [[" + rules.name + "]]");
      list.value = Node::Array{};
      return;
    }
    for (Node& element : std::get<Node::Array>(list.value)) {
      resolve_component(element, *component_of(rules.name), rules.keys, catalog_, folder_,
                        problems_);
    }
    if (rules.name == "reward") check_names_differ(list, "reward");
    if (rules.name == "dataset") check_one_retrieval(list);
  }

  void check_one_retrieval(const Node& datasets) {
    bool has_one = false;
    for (const Node& dataset : datasets.elements()) {
      if (dataset.text_at("role") != "retrieval") continue;
      if (has_one)
        report(dataset.find("role")->origin, "another dataset has the role 'retrieval' already",
               "build one index of all documents");
      has_one = true;
    }
  }

  // Checks that [retrieval] of `tables` has an effect in those in force.
  void check_retrieval(const Node& tables, const std::vector<Node>& in_force) {
    const Node* retrieval = tables.find("retrieval");
    if (retrieval == nullptr || retrieval->origin.is_default()) return;
    const bool used = std::ranges::any_of(
        in_force, [&](const Node& settings) { return has_role(settings, "retrieval"); });
    if (used) return;
    report(retrieval->origin, "[retrieval] has no dataset to retrieve from",
           "add [[dataset]] with role = \"retrieval\", for instance use = \"index\"");
  }

  void check_names_differ(const Node& list, std::string_view what) {
    std::set<std::string> seen;
    for (const Node& element : list.elements()) {
      const Node* name = element.find_name();
      if (name == nullptr || seen.insert(*name->text()).second) continue;
      report(name->origin,
             "there are two " + std::string(what) + "s called '" + *name->text() + "'",
             "rename one of them");
    }
  }

  void require_component(const Node& tables, const char* table) {
    if (tables.find(table) != nullptr) return;
    report(
        document_.origin, "[" + std::string(table) + "] is missing",
        "add [" + std::string(table) + "] with use = \"…\"; `kernelrl plugins` lists the choices");
  }

  void check_stages(const Node& unresolved) {
    Node* list = document_.find("stage");
    if (list != nullptr && !list->is_array()) {
      report(list->origin, "'stage' must be a list of tables", "write [[stage]]");
      return;
    }
    if (list == nullptr || list->elements().empty()) {  // nothing to run, but to evaluate
      require_component(document_, "backend");
      return check_conditions(Node::table({}), document_, catalog_.metrics, problems_);
    }
    require_component(document_, "policy");
    for (Node& stage : std::get<Node::Array>(list->value)) {
      if (stage.is_table()) {
        stages_.push_back(check_stage(stage, unresolved));
      } else {
        report(stage.origin, "a stage must be a table, not " + std::string(stage.kind()),
               "write [[stage]]");
      }
    }
    check_names_differ(*list, "stage");
  }

  Node check_stage(Node& stage, const Node& unresolved) {
    const std::string name = stage.text_at("name"), kind = stage.text_at("kind");
    check_overrides(stage, kind);
    if (Node* additions = stage.find("add")) check_overrides(*additions, kind);
    TableContext context{"in stage '" + name + "'", {"add"}, folder_};
    if (name.empty()) context.where = "in [[stage]]";
    Node settings = Node::table(stage.origin), overrides = Node::table(stage.origin);
    for (const TableRules& rules : plan_schema()) {
      if (!rules.in_stage) continue;
      context.other_keys.push_back(rules.name);
      if (const Node* base = unresolved.find(rules.name)) settings.set(rules.name, {}, *base);
      if (const Node* given = stage.find(rules.name)) overrides.set(rules.name, {}, *given);
    }
    if (const Node* additions = stage.find("add")) overrides.set("add", {}, *additions);
    check_table(stage, table_rules("stage").keys, context, problems_);
    lay(settings, overrides, &stage, notes_);
    refuse_additions(settings, true, problems_);
    for (const TableRules& rules : plan_schema()) {
      if (rules.in_stage) check(settings, rules);
    }
    take_overrides(stage, std::move(overrides), settings);
    require_component(settings, "backend");
    check_needs(stage, kind, settings);
    check_retrieval(stage, {settings});
    check_conditions(stage, settings, catalog_.metrics, problems_);
    if (const Node* rollout = settings.find("rollout")) check_pass_bounds(*rollout, problems_);
    if (kind == "rl") check_imitation(settings, problems_);
    if (kind != "sft" && has_role(settings, "retrieval"))
      check_retrieval_turns(settings, problems_);
    if (const Node* learning = kind == "sft" ? &stage : settings.find("learn"))
      if (kind != "search") check_schedule(*learning, problems_);
    return settings;
  }

  // Writes a stage's overrides into it, as checked in `settings`; a list that it adds to is its own
  // from now on.
  static void take_overrides(Node& stage, Node overrides, const Node& settings) {
    take_checked(overrides, settings);
    for (const TableRules& rules : plan_schema()) {
      if (stage.find_path("add." + rules.name) == nullptr) continue;
      if (const Node* list = settings.find(rules.name)) overrides.set(rules.name, {}, *list);
    }
    for (const Entry& entry : overrides.entries()) stage.set(entry.key, entry.origin, entry.value);
    stage.erase("add");
  }

  // Tables in a stage, or in its `add`, that cannot be there are reported and taken out.
  void check_overrides(Node& tables, const std::string& kind) {
    std::vector<std::string> wrong;
    for (const Entry& entry : tables.entries()) {
      const auto& schema = plan_schema();
      const auto rules = std::ranges::find_if(
          schema, [&](const TableRules& table) { return table.name == entry.key; });
      if (rules == schema.end()) continue;
      if (!rules->in_stage) {
        report(entry.origin, "a stage cannot change '" + entry.key + "'",
               "it is the same for the whole run: move it out of the stage");
      } else if (!is_used(*rules, kind)) {
        const std::string article = kind == "search" ? "a " : "an ";
        report(entry.origin, article + kind + " stage does not use '" + entry.key + "'",
               entry.key == "learn" && kind == "sft"
                   ? "its own key 'optimizer' sets the learning rate"
                   : "remove it");
      } else {
        continue;
      }
      wrong.push_back(entry.key);
    }
    for (const std::string& key : wrong) tables.erase(key);
  }

  // False if stages of this kind, which is one, do not use a table.
  static bool is_used(const TableRules& rules, const std::string& kind) {
    const std::vector<std::string> kinds = choices_of(rules.stage_kind);
    const bool known = kind == "sft" || kind == "rl" || kind == "search";
    return rules.stage_kind.empty() || !known || std::ranges::find(kinds, kind) != kinds.end();
  }

  void check_needs(const Node& stage, const std::string& kind, const Node& settings) {
    const std::string name = "stage '" + stage.text_at("name") + "'";
    if (kind == "sft" && !has_role(settings, "warmup")) {
      report(stage.origin, name + " has no examples",
             "add [[dataset]] with role = \"warmup\", for instance use = \"templates\"");
    }
    if (kind != "rl" && kind != "search") return;
    if (!has_role(settings, "train")) {
      report(stage.origin, name + " has no tasks",
             "add [[dataset]] with role = \"train\", for instance use = \"tasks\"");
    }
    if (kind == "search") return check_search(stage, settings, problems_);
    const Node* rewards = settings.find("reward");
    if (rewards == nullptr || rewards->elements().empty()) {
      report(stage.origin, name + " has no reward",
             "add [[reward]] with use = \"correctness\", or include a preset");
    }
  }

  bool has_role(const Node& settings, std::string_view role) const {
    const Node* datasets = settings.find("dataset");
    if (datasets == nullptr) return false;
    const auto& all = datasets->elements();
    return std::ranges::any_of(
        all, [role](const Node& dataset) { return dataset.text_at("role") == role; });
  }

  // Notes absent and built-in paths of all components in use: the policies, and the components in force during
  // the stages.
  void note_paths() {
    note_paths_of(document_.find("policy"), Kind::kPolicy);
    if (stages_.empty()) note_paths_in(document_);
    for (const Node& stage : stages_) note_paths_in(stage);
  }

  // `component`: null if there is none.
  void note_paths_of(const Node* component, Kind kind) {
    if (component == nullptr) return;
    note_surprising_paths(*component, kind, catalog_, notes_);
    for (const Node* part : parts_of(*component, kind))
      note_surprising_paths(*part, kind, catalog_, notes_);
  }

  void note_paths_in(const Node& tables) {
    note_paths_of(tables.find("backend"), Kind::kBackend);
    for (const Kind kind : {Kind::kDataset, Kind::kReward}) {
      const Node* list = tables.find(name_of(kind));
      if (list == nullptr) continue;
      for (const Node& table : list->elements())
        note_surprising_paths(table, kind, catalog_, notes_);
    }
  }

  void report(const Origin& at, std::string message, std::string hint = {}) {
    problems_.push_back({at, std::move(message), std::move(hint)});
  }

  Node document_;
  std::vector<Node> stages_;
  const Catalog& catalog_;
  const std::filesystem::path& folder_;
  std::vector<Problem>& problems_;
  std::vector<std::string>& notes_;
};

// If the component of a table is not known, only the core's own keys can be checked.
void check_core_keys(Node& table, const std::vector<KeyRule>& core_keys, TableContext context,
                     std::vector<Problem>& problems) {
  std::vector<KeyRule> keys;
  for (const KeyRule& key : core_keys) {
    if (key.key != "use") keys.push_back(key);
  }
  for (const Entry& entry : table.entries()) {
    const bool core =
        std::ranges::any_of(keys, [&](const KeyRule& key) { return key.key == entry.key; });
    if (!core) context.other_keys.push_back(entry.key);
  }
  check_table(table, keys, context, problems);
}

}  // namespace

void resolve_component(Node& table, Kind kind, const std::vector<KeyRule>& core_keys,
                       const Catalog& catalog, const std::filesystem::path& folder,
                       std::vector<Problem>& problems) {
  const std::string what(name_of(kind));
  const std::string id = table.text_at("use");
  const CatalogEntry* component = catalog.find(kind, id);
  if (component == nullptr) {
    const Node* use = table.find("use");
    const bool named = table.find_text("use") != nullptr;
    const std::string hint = spelling_hint(id, catalog.ids(kind), "ids") + catalog.search_report();
    problems.push_back({use == nullptr ? table.origin : use->origin,
                        named ? "unknown " + what + " '" + id + "'"
                              : "this " + what + " needs a 'use', the id of a component",
                        hint});
    return check_core_keys(table, core_keys, {"for this " + what, {}, folder}, problems);
  }
  std::vector<KeyRule> keys = core_keys;
  keys.insert(keys.end(), component->keys.begin(), component->keys.end());
  check_table(table, keys, {"for " + what + " '" + id + "'", {}, folder}, problems);
}

ResolvedTree resolve(Node document, const Catalog& catalog, const std::filesystem::path& folder,
                     std::vector<Problem>& problems, std::vector<std::string>& notes) {
  return Resolver(std::move(document), catalog, folder, problems, notes).run();
}

}  // namespace krl::core
