#include "core/plan/merge.hpp"

#include <algorithm>
#include <array>

#include "core/plan/schema.hpp"

namespace krl {
namespace {

std::string joined(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

std::string text_or(const Node& table, std::string_view key, const std::string& other) {
  const Node* node = table.find_text(key);
  return node == nullptr ? other : *node->text();
}

// Whether `over` chooses by `key` something else than `base` with its default did.
bool changes(const Node& base, const Node& over, std::string_view key,
             const std::string& fallback = {}) {
  const std::string before = text_or(base, key, fallback);
  return text_or(over, key, before) != before;
}

// Keys of a component's table that belong to the core, not to the component.
bool is_core_key(const std::string& key) {
  static constexpr std::array<std::string_view, 4> kKeys = {"name", "role", "weight", "when"};
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

// Whether `path` is the table `name` of the plan or of a stage, and not of a component's options.
bool is_table_of_core(std::string_view path, std::string_view name) {
  const bool core = path.starts_with("learn") || path.starts_with("stage");
  return core && path.ends_with(name);
}

// The default of a key whose values are words.
std::string default_choice(std::string_view table, std::string_view key) {
  for (const KeyRule& rule : table_rules(table).keys) {
    if (rule.key == key) return rule.fallback.substr(1, rule.fallback.size() - 2);  // its quotes
  }
  return {};
}

void drop_options_of_old_choice(Node& base, const Node& over, const std::string& path) {
  auto& table = std::get<Node::Table>(base.value);
  if (is_table_of_core(path, "learn.loss") &&
      changes(base, over, "name", default_choice("learn", "loss.name"))) {
    table.clear();
  }
  const std::string table_name(path.starts_with("stage") ? "stage" : "learn");
  if (is_table_of_core(path, "optimizer") &&
      changes(base, over, "schedule", default_choice(table_name, "optimizer.schedule"))) {
    base.erase("min_lr");
  }
  if (changes(base, over, "use")) {
    std::erase_if(table, [](const Entry& entry) { return !is_core_key(entry.key); });
  }
}

}  // namespace

void merge(Node& base, const Node& over, const std::string& path) {
  if (!base.is_table() || !over.is_table()) {
    base = over;
    return;
  }
  drop_options_of_old_choice(base, over, path);
  base.origin = over.origin;
  for (const Entry& entry : over.entries()) {
    Node* present = base.find(entry.key);
    if (present != nullptr && present->is_table() && entry.value.is_table()) {
      merge(*present, entry.value, joined(path, entry.key));
    } else {
      base.set(entry.key, entry.origin, entry.value);
    }
  }
}

}  // namespace krl
