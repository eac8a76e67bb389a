#include "core/run/plan_changes.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <memory>
#include <optional>

#include "core/plan/printer.hpp"
#include "core/plan/toml_reader.hpp"

namespace krl {

namespace {

using Values = std::map<std::string, std::string>;

void flatten(const Node& node, const std::string& key, Values& values) {
  for (const Entry& entry : node.entries()) {
    flatten(entry.value, key.empty() ? entry.key : key + "." + entry.key, values);
  }
  const Node::Array& elements = node.elements();
  const bool holds_tables = std::any_of(elements.begin(), elements.end(),
                                        [](const Node& element) { return element.is_table(); });
  for (std::size_t i = 0; holds_tables && i < elements.size(); ++i) {
    flatten(elements[i], key + "[" + std::to_string(i) + "]", values);
  }
  if (!node.is_table() && !holds_tables) values[key] = toml_text(node);
}

Result<Values> values_of(std::string_view plan) {
  auto source = std::make_shared<Source>();
  source->name = "the plan of the run";
  source->text = plan;
  const auto document = read_toml(source);
  if (!document) return invalid(rendered(document.error()));
  Values values;
  flatten(*document, "", values);
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

bool may_change(std::string_view key, int current_stage) {
  constexpr std::array<std::string_view, 7> kKeys = {
      "run.name",    "run.threads",      "run.call_timeout_s",
      "run.retries", "run.retry_wait_s", "rollout.answer_timeout_s",
      "plugins.path"};
  constexpr std::array<std::string_view, 3> kTables = {"checkpoint.", "log.", "policy.sampler."};
  constexpr std::array<std::string_view, 3> kLengths = {"iterations", "epochs", "until"};
  const auto is = [&](std::string_view name) { return key == name; };
  const auto is_in = [&](std::string_view table) { return key.starts_with(table); };
  if (std::any_of(kKeys.begin(), kKeys.end(), is)) return true;
  if (std::any_of(kTables.begin(), kTables.end(), is_in)) return true;
  const auto stage = stage_key(key);
  if (!stage || stage->first < current_stage) return false;
  return stage->first > current_stage ||
         std::find(kLengths.begin(), kLengths.end(), stage->second) != kLengths.end();
}

std::string or_absent(const std::string& value) { return value.empty() ? "(absent)" : value; }

}  // namespace

Result<std::vector<PlanChange>> plan_changes(std::string_view before, std::string_view after) {
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
  for (auto& [key, change] : changes)
    if (change.before != change.after) different.push_back(std::move(change));
  return different;
}

Status check_resumable(const std::vector<PlanChange>& changes, int current_stage) {
  std::string refused;
  for (const PlanChange& change : changes)
    if (!may_change(change.key, current_stage))
      refused += "\n  " + change.key + ": was " + or_absent(change.before) + ", is " +
                 or_absent(change.after);
  if (refused.empty()) return {};
  return failure(Code::kFailedPrecondition,
                 "the plan is not the one this run was made with:" + refused +
                     "\ngo on with the old values (the run's own plan.toml has them), or start a "
                     "new run under another "
                     "name (--set run.name=…)");
}

}  // namespace krl
