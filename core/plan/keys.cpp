#include "core/plan/keys.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "core/plan/schema.hpp"

namespace krl::core {
namespace {

std::optional<double> bound(std::string_view text) {
  double number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  const bool whole = !text.empty() && error == std::errc{} && end == last;
  if (!whole || std::isnan(number)) return std::nullopt;
  return number;
}

// Collects the places of the values under `table` by their dotted keys, including nested tables.
void collect_origins(const Node& table, const std::string& prefix,
                     std::map<std::string, Origin>& origins) {
  for (const Entry& entry : table.entries()) {
    const std::string key = prefix + entry.key;
    if (!entry.value.origin.is_default()) origins[key] = entry.value.origin;
    collect_origins(entry.value, key + ".", origins);
  }
}

}  // namespace

std::vector<std::string> choices_of(std::string_view range) {
  std::vector<std::string> choices;
  if (range.empty() || range.find("..") != std::string_view::npos) return choices;
  for (;;) {
    const std::size_t bar = range.find('|');
    choices.emplace_back(range.substr(0, bar));
    if (bar == std::string_view::npos) return choices;
    range.remove_prefix(bar + 1);
  }
}

bool is_interval(std::string_view range) {
  const std::size_t dots = range.find("..");
  if (dots == std::string_view::npos) return false;
  const std::string_view low_text = range.substr(0, dots), high_text = range.substr(dots + 2);
  const std::optional<double> low = bound(low_text), high = bound(high_text);
  if (!low && !high) return false;
  return (low || low_text.empty()) && (high || high_text.empty()) && !(low && high && *low > *high);
}

std::optional<std::string> expected_instead_of(double number, std::string_view range) {
  const std::size_t dots = range.find("..");
  if (dots == std::string_view::npos) return std::nullopt;
  const std::string_view low_text = range.substr(0, dots), high_text = range.substr(dots + 2);
  const std::optional<double> low = bound(low_text), high = bound(high_text);
  if ((!low || number >= *low) && (!high || number <= *high)) return std::nullopt;
  if (!high) return "at least " + std::string(low_text);
  if (!low) return "at most " + std::string(high_text);
  return "between " + std::string(low_text) + " and " + std::string(high_text);
}

std::string either(const std::vector<std::string>& choices) {
  std::string out;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (i > 0) out += i + 1 == choices.size() ? " or " : ", ";
    out += choices[i];
  }
  return out;
}

std::string_view name_of(Kind kind) {
  static constexpr std::array<std::string_view, 5> kNames = {"component", "policy", "backend",
                                                             "reward", "dataset"};
  return kNames[static_cast<std::size_t>(kind)];
}

const CatalogEntry* Catalog::find(Kind kind, std::string_view id) const {
  for (const CatalogEntry& entry : entries) {
    if (entry.kind == kind && entry.id == id) return &entry;
  }
  return nullptr;
}

std::vector<std::string> Catalog::ids(Kind kind) const {
  std::vector<std::string> ids;
  for (const CatalogEntry& entry : entries) {
    if (entry.kind == kind) ids.push_back(entry.id);
  }
  return ids;
}

std::string Catalog::search_report(const std::string& separator) const {
  std::string report;
  for (const std::string& folder : searched) {
    report += (report.empty() ? separator + "searched: " : ", ") + folder;
  }
  for (const std::string& file : refused) report += separator + "not loaded: " + file;
  return report;
}

KeyRule& Keys::parameter(const std::string& name, LossSettings& loss, const char* doc,
                         const char* fallback, const char* range) {
  double value = 0;
  const auto is_this = [&](const LossParameter& known) { return known.name == name; };
  const bool given = table_ != nullptr && table_->find_path("loss." + name) != nullptr;
  KeyRule& rule = (*this)("loss." + name, value, doc, fallback, range);
  if (given && std::ranges::none_of(loss.parameters, is_this)) {
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
  return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
}

void Keys::read(const Node& node, std::optional<ComponentSettings>& out) {
  out = read_settings<ComponentSettings>(&node);
}

void Keys::read(const Node& node, std::vector<ComponentSettings>& out) {
  for (const Node& table : node.elements()) out.push_back(read_settings<ComponentSettings>(&table));
}

void Keys::read(const Node& node, std::optional<Condition>& out) {
  const auto expression = Expression::parse(*node.text(), NameStyle::kMetrics);
  if (expression && !node.text()->empty()) out = Condition{*expression, node.origin};
}

}  // namespace krl::core
