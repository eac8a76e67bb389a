#include "core/run/plan_changes.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <optional>

#include "core/plan/node.hpp"
#include "core/plan/printer.hpp"
#include "core/plan/schema.hpp"
#include "core/run/run_record.hpp"

namespace krl::core {

namespace {

using Values = std::map<std::string, std::string>;

// Calls `take` with every value of the plan and its key.
template <class Take>
void for_each_value(const Node& node, const std::string& key, const Take& take) {
  for (const Entry& entry : node.entries()) {
    for_each_value(entry.value, key.empty() ? entry.key : key + "." + entry.key, take);
  }
  const Node::Array& elements = node.elements();
  const bool holds_tables =
      std::ranges::any_of(elements, [](const Node& element) { return element.is_table(); });
  for (std::size_t i = 0; holds_tables && i < elements.size(); ++i) {
    for_each_value(elements[i], key + "[" + std::to_string(i) + "]", take);
  }
  if (!node.is_table() && !holds_tables) take(key, node);
}

Result<Values> values_of(std::string_view plan) {
  auto source = std::make_shared<Source>();
  source->name = "the plan of the run";
  source->text = plan;
  const auto document = read_toml(source);
  if (!document) return invalid(rendered(document.error()));
  Values values;
  for_each_value(*document, "",
                 [&](const std::string& key, const Node& node) { values[key] = toml_text(node); });
  return values;
}

// The number of "stage[2].iterations", and the rest of it.
std::optional<std::pair<int, std::string_view>> stage_key(std::string_view key) {
  constexpr std::string_view kStage = "stage[";
  if (!key.starts_with(kStage)) return std::nullopt;
  int number = 0;
  const auto parsed = std::from_chars(key.data() + kStage.size(), key.data() + key.size(), number);
  const std::string_view rest(parsed.ptr,
                              static_cast<std::size_t>(key.data() + key.size() - parsed.ptr));
  return std::pair(number, rest.substr(0, 2) == "]." ? rest.substr(2) : std::string_view());
}

bool may_change(const KeyRule* rule, bool over) {
  if (rule == nullptr || rule->on_resume == OnResume::kKept) return false;
  return !over || rule->on_resume != OnResume::kUntilOver;
}

// The stage that a run has come to may change its own keys and overrides; other stages may change
// all or none.
bool may_change(std::string_view key, Reached reached) {
  if (key.ends_with(".executable")) return true;  // [python] lends it to components in Python
  const auto stage = stage_key(key);
  if (!stage) return may_change(find_rule(key), reached.over);
  if (stage->first != reached.stage) return stage->first > reached.stage;
  return may_change(find_rule("stage." + std::string(stage->second)), reached.over) ||
         may_change(find_rule(stage->second), reached.over);
}

// Lists the changeable keys of a table, "learn.epochs, [learn.optimizer]": a table whose keys may
// all change is one entry.
std::string changeable_keys(const TableRules& table) {
  std::map<std::string, bool> whole;  // by a table's name: may all of its keys change?
  const auto place_of = [&](const KeyRule& rule) {
    const std::string key = table.name + "." + rule.key;
    return holds_components(rule.type) ? key : key.substr(0, key.rfind('.'));
  };
  for (const KeyRule& rule : table.keys) {
    const bool changes = may_change(&rule, false);
    for (const std::string& place : {place_of(rule), table.name})
      whole.try_emplace(place, true).first->second &= changes;
  }
  if (whole.at(table.name)) return "[" + table.name + "], ";
  std::string text, last;
  for (const KeyRule& rule : table.keys) {
    if (!may_change(&rule, false)) continue;
    const std::string place = place_of(rule);
    const std::string name = whole.at(place) ? "[" + place + "]" : table.name + "." + rule.key;
    if (name != last) text += name + ", ";
    last = name;
  }
  return text;
}

std::string what_may_change(Reached reached) {
  const std::string stage = "stage[" + std::to_string(reached.stage) + "]";
  std::string text =
      reached.over ? "the run is finished: it continues if iterations or until of " + stage +
                         " change, or if stages are added; apart from that only these may change: "
                   : "only these may change: iterations, epochs and until of " + stage +
                         ", which is in progress, everything in later stages, ";
  for (const TableRules& table : plan_schema())
    if (table.name != "stage") text += changeable_keys(table);
  return text.substr(0, text.size() - 2);
}

std::string or_absent(const std::string& value) { return value.empty() ? "(absent)" : value; }

}  // namespace

std::set<std::string> default_keys(const Node& plan) {
  std::set<std::string> keys;
  for_each_value(plan, "", [&](const std::string& key, const Node& node) {
    if (node.origin.is_default()) keys.insert(key);
  });
  return keys;
}

Result<std::vector<PlanChange>> plan_changes(std::string_view before, std::string_view after,
                                             const std::set<std::string>& defaults) {
  KRL_ASSIGN(const Values old_values, values_of(before));
  KRL_ASSIGN(const Values new_values, values_of(after));
  std::map<std::string, PlanChange> changes;
  for (const auto& [key, value] : old_values) changes[key] = {key, value, ""};
  for (const auto& [key, value] : new_values) {
    PlanChange& change = changes[key];
    change.key = key;
    change.after = value;
  }
  std::vector<PlanChange> different;
  for (auto& [key, change] : changes) {
    const bool is_new = change.before.empty() && defaults.contains(key);
    if (change.before != change.after && !is_new) different.push_back(std::move(change));
  }
  return different;
}

std::string text_of(const PlanChange& change) {
  return change.key + ": was " + or_absent(change.before) + ", is " + or_absent(change.after);
}

Status check_resumable(const std::vector<PlanChange>& changes, Reached reached,
                       const std::filesystem::path& learned) {
  std::string refused;
  for (const PlanChange& change : changes)
    if (!may_change(change.key, reached)) refused += "\n  " + text_of(change);
  if (refused.empty()) return {};
  return failure(Code::kFailedPrecondition,
                 "the plan differs from the one this run was started with:" + refused + "\n" +
                     what_may_change(reached) + "\nresume with the old values, or start a new run" +
                     (learned.empty() ? ": run.name=…"
                                      : " from what this one has learned: run.name=… run.from=" +
                                            learned.string()));
}

}  // namespace krl::core
