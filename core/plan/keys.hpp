// The keys that a table of a plan may hold, and the members of settings that they become.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/base/metrics.hpp"
#include "core/plan/node.hpp"
#include "core/plan/plan.hpp"

namespace krl::core {

// The types of values. The first seven are the boundary's (KRL_BOOL … KRL_TABLE); the others only
// the core's own. Tables and lists of tables in a component's table are components of its kind.
enum class ValueType : std::uint8_t {
  kBool = 1,
  kInteger,
  kFloat,
  kString,
  kPath,
  kArray,
  kTable,
  kStrings,
  kPaths,
  kTables,
};

// "an integer", for messages.
std::string_view described(ValueType type);

inline bool holds_components(ValueType type) {
  return type == ValueType::kTable || type == ValueType::kTables;
}

// How a resumed run treats a changed value of a key.
enum class OnResume : std::uint8_t {
  kKept,       // the iterations that are done follow from it
  kUntilOver,  // change it while the stage lasts
  // Change it for the iterations to come: nothing that is kept of a stage depends on it.
  kFromHereOn,
  kFree,  // change it: no result depends on it
};

// One key that a table of a plan may hold: its type, default, range and meaning. The tables of the
// core (schema.hpp) and the options of plugins are described alike, and one checker (key_check.hpp)
// reads both. Plain data.
struct KeyRule {
  std::string key = {};  // dotted for nested tables: "model.layers"
  ValueType type = ValueType::kString;
  std::string fallback =
      {};                  // the default as TOML text; empty: the key may be absent, or is required
  std::string range = {};  // "0..1", "1..", "a|b|c"; empty: everything of the type
  std::string doc = {};    // one sentence
  bool required = false;

  // "loss.name=ppo|cispo": the key is in use only with these values of another key of the same
  // table; with others it is an error. Several fields may share a key if at most one is in use.
  std::string only_if = {};
  // If the value changes, the keys that only the old value has are dropped from the layers below.
  bool chooses = false;
  OnResume on_resume = OnResume::kKept;
};

// Splits a range "a|b|c"; empty if the range is not of this form.
std::vector<std::string> choices_of(std::string_view range);

// True if the range is "0..1", "1.." or "..5", with numbers in ascending order.
bool is_interval(std::string_view range);

// The allowed range, for messages about a number outside of it: "at least 1" or "between 0 and 1";
// nothing if it lies inside, ends included.
std::optional<std::string> expected_instead_of(double number, std::string_view range);

// The list as "a, b or c".
std::string either(const std::vector<std::string>& choices);

// The kinds of components; the numbers are the boundary's (KRL_POLICY …).
enum class Kind : std::uint8_t { kPolicy = 1, kBackend, kReward, kDataset };

// "policy", "backend", "reward", "dataset".
std::string_view name_of(Kind kind);

struct CatalogEntry {
  Kind kind = Kind::kPolicy;
  std::string id;
  std::vector<KeyRule> keys;
};

// The components and metrics that a plan may name, as far as a plan is checked against them. Plain
// data, made from the loaded plugins; core/plan itself knows no plugins.
struct Catalog {
  std::vector<CatalogEntry> entries;
  std::vector<std::string> searched;  // folders, first to last
  std::vector<std::string> refused;   // "FILE: why", plugins that could not be loaded
  std::vector<std::string> replaced;  // "reward.speedup": taken from a stranger's plugin, as the
                                      // plan asked
  MetricNames metrics;                // metrics that conditions may name

  const CatalogEntry* find(Kind kind, std::string_view id) const;
  std::vector<std::string> ids(Kind kind) const;
  // Lists where a missing id was looked for, "searched: …", "not loaded: …", each after
  // `separator`.
  std::string search_report(const std::string& separator = "   ") const;
};

// The keys of one table of a plan, each bound to the member of a settings struct that its value
// becomes. A table is described once (`describe`, in schema.hpp): without a tree the description
// defines the rules by which plans are checked, filled in and documented; with one it also fills
// the struct. Used by one thread.
class Keys {
 public:
  // `table`: a checked table to read, or null.
  explicit Keys(const Node* table = nullptr) : table_(table) {}

  // Applies to the keys that follow; see KeyRule.
  std::string only_if;
  OnResume on_resume = OnResume::kKept;

  // Adds a key: its name, the member that it becomes, its meaning, its default as TOML text and its
  // range. The type is that of `member`; enumerators are in the order of the range. A key that the
  // table lacks leaves `member` alone. The returned rule, valid until the next key, can be refined.
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
                                       .only_if = only_if,
                                       .on_resume = on_resume});
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

  // Returns the place of the value of `key`.
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
    if constexpr (std::is_same_v<T, std::vector<ComponentSettings>>) return ValueType::kTables;
    return ValueType::kString;
  }
  static std::size_t place_in(std::string_view range, const std::string& name);
  static void read(const Node& node, std::optional<Condition>& out);
  static void read(const Node& node, std::optional<ComponentSettings>& out);
  static void read(const Node& node, std::vector<ComponentSettings>& out);
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

}  // namespace krl::core
