// The keys of one table of a plan, each bound to the member of a settings struct that its value
// becomes. A table is described once (`describe`, in schema.hpp): without a tree the description
// gives the rules that plans are checked, filled in and documented by; with one it also fills the
// struct. One thread.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/plan/key_rule.hpp"
#include "core/plan/node.hpp"
#include "core/plan/plan.hpp"

namespace krl {

class Keys {
 public:
  // `table`: a checked table to read, or null.
  explicit Keys(const Node* table = nullptr) : table_(table) {}

  // Of the keys that follow; see KeyRule::only_if.
  std::string only_if;

  // A key: its name, what it becomes, its meaning, its default as TOML text and its range. The type
  // is that of `member`; enumerators stand in the order of the range. What the table lacks leaves
  // `member` alone. The rule that is returned, good until the next key, can say more.
  template <class T>
  KeyRule& operator()(const std::string& key, T& member, const char* doc, const char* fallback = "",
                      const char* range = "") {
    if (const Node* node = table_ == nullptr ? nullptr : table_->find_path(key)) {
      if constexpr (std::is_enum_v<T>) {
        member = static_cast<T>(place_in(range, *node->text()));
      } else {
        read(*node, member);
      }
    }
    return rules_.emplace_back(KeyRule{.key = key,
                                       .type = type_of<T>(),
                                       .fallback = fallback,
                                       .range = range,
                                       .doc = doc,
                                       .only_if = only_if});
  }
  // A parameter of a loss; it belongs to the losses that `only_if` names.
  KeyRule& parameter(const std::string& name, LossSettings& loss, const char* doc,
                     const char* fallback, const char* range);

  // A parameter of the critic's loss, critic.NAME; it goes to the policy as value_NAME.
  KeyRule& critic_parameter(const std::string& name, LearnSettings& learn, const char* doc,
                            const char* fallback, const char* range);

  // The component that the table is about: everything that no key took becomes its options.
  // `settings.use` is already known.
  void component(ComponentSettings& settings) const;

  // Where the value of `key` stands.
  Origin origin(std::string_view key) const;

  std::vector<KeyRule> rules() && { return std::move(rules_); }

 private:
  template <class T>
  static constexpr ValueType type_of() {
    if constexpr (std::is_same_v<T, bool>) return ValueType::kBool;
    if constexpr (std::is_integral_v<T>) return ValueType::kInteger;
    if constexpr (std::is_floating_point_v<T>) return ValueType::kFloat;
    if constexpr (std::is_same_v<T, std::optional<double>>) return ValueType::kFloat;
    if constexpr (std::is_same_v<T, std::filesystem::path>) return ValueType::kPath;
    if constexpr (std::is_same_v<T, std::vector<std::string>>) return ValueType::kStrings;
    if constexpr (std::is_same_v<T, std::vector<std::filesystem::path>>) return ValueType::kPaths;
    if constexpr (std::is_same_v<T, std::optional<ComponentSettings>>) return ValueType::kTable;
    return ValueType::kString;
  }
  static std::size_t place_in(std::string_view range, const std::string& name);
  static void read(const Node& node, std::optional<Condition>& out);
  static void read(const Node& node, std::optional<ComponentSettings>& out);
  template <class T>
  static void read(const Node& node, std::vector<T>& out) {
    for (const Node& element : node.elements()) out.emplace_back(*element.text());
  }
  static void read(const Node& node, std::uint64_t& out) {
    out = static_cast<std::uint64_t>(std::get<std::int64_t>(node.value));
  }
  static void read(const Node& node, std::filesystem::path& out) { out = *node.text(); }
  static void read(const Node& node, std::optional<double>& out) {
    out = std::get<double>(node.value);
  }
  template <class T>
  static void read(const Node& node, T& out) {
    out = std::get<T>(node.value);
  }

  const Node* table_;
  std::vector<KeyRule> rules_;
};

}  // namespace krl
