#include "core/plan/key_check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <kernelrl/spelling.hpp>

#include "core/plan/built_in.hpp"
#include "core/plan/keys.hpp"
#include "core/plan/node.hpp"

namespace krl::core {
namespace {

constexpr std::size_t kMaxListed = 24;  // names
constexpr std::size_t kMaxQuoted = 60;  // bytes of a wrong text that a message repeats

std::string shown(const Node& node) {
  if (const std::string* text = node.text()) {
    return "'" + (text->size() > kMaxQuoted ? text->substr(0, kMaxQuoted) + "…" : *text) + "'";
  }
  return node.json().dump();
}

std::string known_list(const std::vector<std::string>& known, const std::string& what) {
  std::string list;
  for (std::size_t i = 0; i < std::min(known.size(), kMaxListed); ++i) {
    list += (list.empty() ? "" : ", ") + known[i];
  }
  if (known.size() > kMaxListed) list += ", …";
  return "known " + what + ": " + (list.empty() ? "none" : list);
}

bool all_texts(const Node& node) {
  const Node::Array& all = node.elements();
  return node.is_array() &&
         std::ranges::all_of(all, [](const Node& element) { return element.text() != nullptr; });
}

bool fits(const Node& node, ValueType type) {
  switch (type) {
    case ValueType::kBool:
      return std::holds_alternative<bool>(node.value);
    case ValueType::kInteger:
      return std::holds_alternative<std::int64_t>(node.value);
    case ValueType::kFloat:
      return std::holds_alternative<double>(node.value) ||
             std::holds_alternative<std::int64_t>(node.value);
    case ValueType::kString:
    case ValueType::kPath:
      return node.text() != nullptr;
    case ValueType::kArray:
      return node.is_array();
    case ValueType::kTable:
      return node.is_table();
    case ValueType::kStrings:
    case ValueType::kPaths:
      return all_texts(node);
    case ValueType::kTables:
      return node.is_list_of_tables();
  }
  return false;
}

// "loss.name=ppo|cispo", taken apart.
struct OnlyIf {
  explicit OnlyIf(const std::string& text)
      : key(text.substr(0, text.find('='))), values(choices_of(text.substr(text.find('=') + 1))) {}
  std::string key;
  std::vector<std::string> values;
};

class TableChecker {
 public:
  TableChecker(Node& root, const std::vector<KeyRule>& rules, const TableContext& context,
               std::vector<Problem>& problems)
      : root_(root), rules_(rules), context_(context), problems_(problems) {}

  // Checks the entries of `table`, whose keys start with `prefix` ("" or "model.").
  void check_entries(Node& table, const std::string& prefix) {
    const auto& others = context_.other_keys;
    for (Entry& entry : std::get<Node::Table>(table.value)) {
      const std::string key = prefix + entry.key;
      if (std::ranges::find(others, key) != others.end()) continue;
      const KeyRule* rule = rule_of(key);
      if (rule != nullptr && use_of(*rule) == Use::kNo) {
        unused_key(entry, *rule);
      } else if (has_keys_below(key) && entry.value.is_table()) {
        check_entries(entry.value, key + ".");
      } else if (rule != nullptr) {
        check_value(key, entry.value, *rule);
      } else if (has_keys_below(key)) {
        report(entry.value.origin,
               "'" + key + "' must be a table, not " + std::string(entry.value.kind()),
               known_list(known_keys(key + "."), "keys"));
      } else {
        unknown_key(entry, prefix);
      }
    }
  }

  // Adds absent entries. Runs after the entries were checked.
  void fill_defaults() {
    for (const KeyRule& rule : rules_) {
      if (use_of(rule) == Use::kYes) fill(rule);
    }
  }

 private:
  // Tells if a key is in use, which depends on another one's value; kUnknown if that one is wrong.
  enum class Use { kYes, kNo, kUnknown };

  Use use_of(const KeyRule& rule) const {
    if (rule.only_if.empty()) return Use::kYes;
    const OnlyIf condition(rule.only_if);
    const KeyRule* chooser = rule_of(condition.key);
    if (chooser == nullptr) return Use::kUnknown;
    if (const Use use = use_of(*chooser); use != Use::kYes) return use;
    const Node* node = root_.find_path(condition.key);
    const auto fallback = read_toml_value(chooser->fallback, {});
    if (node == nullptr && fallback) node = &*fallback;
    if (node == nullptr || node->text() == nullptr) return Use::kUnknown;
    const auto holds = [node](const std::vector<std::string>& values) {
      return std::ranges::find(values, *node->text()) != values.end();
    };
    if (!holds(choices_of(chooser->range))) return Use::kUnknown;
    return holds(condition.values) ? Use::kYes : Use::kNo;
  }

  // The rule of a key that is in use; else one that is not; else nullptr.
  const KeyRule* rule_of(const std::string& key) const {
    const KeyRule* unused = nullptr;
    for (const KeyRule& rule : rules_) {
      if (rule.key != key) continue;
      if (use_of(rule) != Use::kNo) return &rule;
      if (unused == nullptr) unused = &rule;
    }
    return unused;
  }

  bool has_keys_below(const std::string& key) const {
    return std::ranges::any_of(
        rules_, [&](const KeyRule& rule) { return rule.key.starts_with(key + "."); });
  }

  std::vector<std::string> known_keys(const std::string& prefix) const {
    std::vector<std::string> known;
    for (const KeyRule& rule : rules_) {
      if (!rule.key.starts_with(prefix) || use_of(rule) == Use::kNo) continue;
      known.push_back(
          rule.key.substr(prefix.size(), rule.key.find('.', prefix.size()) - prefix.size()));
    }
    if (prefix.empty()) {
      known.insert(known.end(), context_.other_keys.begin(), context_.other_keys.end());
    }
    std::ranges::sort(known);
    known.erase(std::unique(known.begin(), known.end()), known.end());
    return known;
  }

  std::string where(const std::string& prefix) const {
    if (prefix.empty()) return context_.where;
    return "in '" + prefix.substr(0, prefix.size() - 1) + "' " + context_.where;
  }

  void unknown_key(const Entry& entry, const std::string& prefix) {
    report(entry.origin, "unknown key '" + entry.key + "' " + where(prefix),
           spelling_hint(entry.key, known_keys(prefix), "keys"));
  }

  void unused_key(const Entry& entry, const KeyRule& rule) {
    const OnlyIf condition(rule.only_if);
    report(
        entry.origin, "key '" + entry.key + "' is not used here",
        "it only applies with " + condition.key + " = " + either(condition.values) + "; remove it");
  }

  void check_value(const std::string& key, Node& node, const KeyRule& rule) {
    const bool text = rule.type == ValueType::kString || rule.type == ValueType::kPath;
    if (text && !node.word.empty()) node.value = node.word;
    if (!fits(node, rule.type)) {
      const bool texts = rule.type == ValueType::kStrings || rule.type == ValueType::kPaths;
      if (texts && node.is_array()) return report_wrong_elements(key, node);
      const std::string or_table = has_keys_below(key) ? " or a table" : "";
      report(node.origin,
             "'" + key + "' must be " + std::string(described(rule.type)) + or_table + ", not " +
                 std::string(node.kind()),
             key + ": " + rule.doc);
      return;
    }
    switch (rule.type) {
      case ValueType::kInteger:
      case ValueType::kFloat:
        check_number(key, node, rule);
        break;
      case ValueType::kString:
        check_choice(key, node, rule);
        break;
      case ValueType::kPath:
        make_absolute(node, context_.folder);
        break;
      case ValueType::kPaths:
        for (Node& element : std::get<Node::Array>(node.value)) {
          make_absolute(element, context_.folder);
        }
        break;
      default:
        break;
    }
  }

  void report_wrong_elements(const std::string& key, const Node& node) {
    for (const Node& element : node.elements()) {
      if (element.text() != nullptr) continue;
      report(element.origin,
             "'" + key + "' must contain only strings, not " + std::string(element.kind()));
    }
  }

  void check_choice(const std::string& key, const Node& node, const KeyRule& rule) {
    const std::vector<std::string> choices = choices_of(rule.range);
    const std::string& text = *node.text();
    if (choices.empty() || std::ranges::find(choices, text) != choices.end()) return;
    const std::string meant = closest_name(text, choices);
    report(node.origin, "'" + key + "' must be " + either(choices) + ", not " + shown(node),
           meant.empty() ? std::string() : "did you mean '" + meant + "'?");
  }

  void check_number(const std::string& key, Node& node, const KeyRule& rule) {
    const auto* integer = std::get_if<std::int64_t>(&node.value);
    const double number =
        integer != nullptr ? static_cast<double>(*integer) : std::get<double>(node.value);
    if (!std::isfinite(number)) {
      report(node.origin, "'" + key + "' must be a finite number", key + ": " + rule.doc);
    } else if (const auto expected = expected_instead_of(number, rule.range)) {
      report(node.origin, "'" + key + "' must be " + *expected + ", not " + shown(node),
             key + ": " + rule.doc);
    }
    if (rule.type == ValueType::kFloat) node.value = number;
  }

  void fill(const KeyRule& rule) {
    Node* table = table_for_default(rule);
    const std::string key = rule.key.substr(rule.key.rfind('.') + 1);
    if (table == nullptr || table->find(key) != nullptr) return;
    if (rule.required) {
      report(table->origin, "key '" + rule.key + "' is missing " + context_.where,
             rule.key + ": " + rule.doc);
    }
    if (rule.fallback.empty()) return;
    auto fallback = read_toml_value(rule.fallback, {});
    if (!fallback || !fits(*fallback, rule.type)) {
      report(root_.origin,
             "the default of '" + rule.key + "' " + context_.where + " is not " +
                 std::string(described(rule.type)) + ": " + rule.fallback,
             "this is a bug in the plugin");
      return;
    }
    if (rule.type == ValueType::kFloat) {
      if (const auto* integer = std::get_if<std::int64_t>(&fallback->value)) {
        fallback->value = static_cast<double>(*integer);
      }
    }
    if (rule.type == ValueType::kPath) make_absolute(*fallback, context_.folder);
    table->set(key, {}, std::move(*fallback));
  }

  // The table that the default of `rule` goes into, made if needed; nullptr if it goes nowhere.
  Node* table_for_default(const KeyRule& rule) {
    Node* table = &root_;
    std::size_t start = 0;
    for (std::size_t dot; (dot = rule.key.find('.', start)) != std::string::npos; start = dot + 1) {
      const std::string key = rule.key.substr(start, dot - start);
      Node* next = table->find(key);
      if (next == nullptr) {
        const KeyRule* plain = rule_of(rule.key.substr(0, dot));
        const bool plain_is_meant =
            plain != nullptr && (plain->required || !plain->fallback.empty());
        if (plain_is_meant) return nullptr;
        if (rule.fallback.empty() && (!rule.required || plain != nullptr)) return nullptr;
        next = &table->child(key, {});
        next->origin = table->origin;
      }
      if (!next->is_table()) return nullptr;  // the plain form was chosen, or was reported
      table = next;
    }
    return table;
  }

  void report(const Origin& at, std::string message, std::string hint = {}) {
    problems_.push_back({at, std::move(message), std::move(hint)});
  }

  Node& root_;
  const std::vector<KeyRule>& rules_;
  const TableContext& context_;
  std::vector<Problem>& problems_;
};

}  // namespace

void make_absolute(Node& node, const std::filesystem::path& default_folder) {
  auto* text = std::get_if<std::string>(&node.value);
  if (text == nullptr || text->empty()) return;
  const auto folder = node.origin.is_default() ? default_folder : node.origin.folder();
  std::string path = find_near(folder, *text).string();
  if (path.size() > 1 && path.ends_with('/')) path.pop_back();
  *text = std::move(path);
}

std::string_view described(ValueType type) {
  static constexpr std::array<std::string_view, 11> kWords = {"a value",
                                                              "true or false",
                                                              "an integer",
                                                              "a number",
                                                              "a string",
                                                              "a path (a string)",
                                                              "an array",
                                                              "a table",
                                                              "an array of strings",
                                                              "an array of paths (strings)",
                                                              "a list of tables"};
  const auto number = static_cast<std::size_t>(type);  // may be a plugin's, and any
  return kWords[number < kWords.size() ? number : 0];
}

std::string spelling_hint(const std::string& name, const std::vector<std::string>& known,
                          const std::string& what) {
  const std::string meant = closest_name(name, known);
  return (meant.empty() ? "" : "did you mean '" + meant + "'?   ") + known_list(known, what);
}

void check_table(Node& table, const std::vector<KeyRule>& rules, const TableContext& context,
                 std::vector<Problem>& problems) {
  TableChecker checker(table, rules, context, problems);
  checker.check_entries(table, "");
  checker.fill_defaults();
}

}  // namespace krl::core
