// One key that a table of a plan may hold: its type, default, range and what it means.
// The tables of the core (schema.hpp) and the options of plugins are described alike, and one
// checker (key_check.hpp) reads both. Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace krl {

// The first seven are the boundary's (KRL_BOOL … KRL_TABLE); the others only the core's own.
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
};

// "an integer", for messages.
std::string_view described(ValueType type);

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
  // Further choices that are known but not built yet: "retrieval".
  std::string later = {};
};

}  // namespace krl
