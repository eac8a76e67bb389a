#include "core/plan/keys.hpp"

#include <algorithm>

#include "core/plan/schema.hpp"
#include "core/plan/value_range.hpp"

namespace krl {
namespace {

// Where the values under `table` were given, by their dotted keys; a nested table's too.
void collect_origins(const Node& table, const std::string& prefix,
                     std::map<std::string, Origin>& origins) {
  for (const Entry& entry : table.entries()) {
    const std::string key = prefix + entry.key;
    if (!entry.value.origin.is_default()) origins[key] = entry.value.origin;
    collect_origins(entry.value, key + ".", origins);
  }
}

}  // namespace

KeyRule& Keys::parameter(const std::string& name, LossSettings& loss, const char* doc,
                         const char* fallback, const char* range) {
  double value = 0;
  const auto is_this = [&](const LossParameter& known) { return known.name == name; };
  const bool given = table_ != nullptr && table_->find_path("loss." + name) != nullptr;
  KeyRule& rule = (*this)("loss." + name, value, doc, fallback, range);
  if (given && std::none_of(loss.parameters.begin(), loss.parameters.end(), is_this)) {
    loss.parameters.push_back({name, value});
  }
  return rule;
}

KeyRule& Keys::critic_parameter(const std::string& name, LearnSettings& learn, const char* doc,
                                const char* fallback, const char* range) {
  LossParameter parameter{"value_" + name, 0};
  const bool given = table_ != nullptr && table_->find_path("critic." + name) != nullptr;
  KeyRule& rule = (*this)("critic." + name, parameter.value, doc, fallback, range);
  if (given) learn.critic.push_back(std::move(parameter));
  return rule;
}

void Keys::component(ComponentSettings& settings) const {
  if (table_ == nullptr) return;
  settings.origin = origin("use");
  settings.options = table_->json();
  collect_origins(*table_, {}, settings.option_origins);
  for (const KeyRule& rule : rules_) {
    settings.options.erase(rule.key);
    settings.option_origins.erase(rule.key);
  }
}

Origin Keys::origin(std::string_view key) const {
  if (table_ == nullptr) return {};
  const Node* node = table_->find_path(key);
  return node == nullptr ? table_->origin : node->origin;
}

std::size_t Keys::place_in(std::string_view range, const std::string& name) {
  const std::vector<std::string> names = choices_of(range);
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

void Keys::read(const Node& node, std::optional<ComponentSettings>& out) {
  out = read_settings<ComponentSettings>(&node);
}

void Keys::read(const Node& node, std::optional<Condition>& out) {
  const auto expression = Expression::parse(*node.text(), NameStyle::kMetrics);
  if (expression && !node.text()->empty()) out = Condition{*expression, node.origin};
}

}  // namespace krl
