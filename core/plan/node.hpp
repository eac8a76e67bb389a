// The tree that plans are read into: like TOML, but every key and value knows where it came from.
// A value type; core/plan works on it between reading and the final Plan.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <variant>
#include <vector>

#include "core/plan/source.hpp"

namespace krl::core {

struct Entry;

struct Node {
  using Array = std::vector<Node>;
  using Table = std::vector<Entry>;  // ordered as in the text; keys are unique

  // Deeper values are refused when read, so that recursion over a tree is safe.
  static constexpr int kMaxDepth = 32;

  std::variant<bool, std::int64_t, double, std::string, Array, Table> value;
  Origin origin;
  std::string word = {};  // the word as typed, if it has no quotes and could as well mean a string

  static Node table(Origin origin);

  bool is_table() const { return std::holds_alternative<Table>(value); }
  bool is_array() const { return std::holds_alternative<Array>(value); }
  // True for an array of which every element is a table.
  bool is_list_of_tables() const;
  const std::string* text() const { return std::get_if<std::string>(&value); }

  // Returns the value under a key of a table; nullptr if there is none, or if this is not a table.
  const Node* find(std::string_view key) const;
  Node* find(std::string_view key);
  // The same for a dotted key.
  const Node* find_path(std::string_view dotted) const;
  // The same if the value is a string.
  const Node* find_text(std::string_view dotted) const;
  // That string; `otherwise` if there is none.
  std::string text_at(std::string_view dotted, std::string otherwise = {}) const;
  // The text that an element of a list is known by: its `name`, or else its `use`.
  const Node* find_name() const;

  // REQUIRES: is_table(). `set` adds or replaces; `child` adds an empty table if there is none.
  void set(std::string key, Origin key_origin, Node node);
  Node& child(std::string_view key, const Origin& origin);
  void erase(std::string_view key);

  // The elements of an array, or of nothing.
  const Array& elements() const;
  const Table& entries() const;

  // "a string", "an array", …
  std::string_view kind() const;

  nlohmann::json json() const;
};

struct Entry {
  std::string key;
  Origin origin;  // place of the key
  Node value;
};

// Reads the whole text of `source` as a table. These functions are the only place that knows the
// TOML library. Thread-safe; hostile text is an error, never a crash.
tl::expected<Node, Problem> read_toml(const std::shared_ptr<const Source>& source);

// A value such as `3`, `"x"` or `{ a = 1 }`. `at` is where its text starts; a value that does not
// come from a user's text has a default origin.
tl::expected<Node, Problem> read_toml_value(const std::string& text, const Origin& at);

// True if a key needs no quotes in TOML: letters, digits, '_' and '-'.
bool is_bare_key(std::string_view key);

}  // namespace krl::core
