// Every table and key of a plan that belongs to the core: type, default, range and meaning.
// The one place from which plans are checked, defaults filled in, and docs/plan.md made.
// Constant; thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/plan/key_rule.hpp"

namespace krl {

struct TableRules {
  std::string name;       // "rollout"
  bool list = false;      // written [[name]], any number of times
  bool in_stage = false;  // a stage may override it
  std::string doc;
  std::vector<KeyRule> keys;
};

// In the order in which they are documented and printed.
const std::vector<TableRules>& plan_schema();

// REQUIRES: a table of that name.
const TableRules& table_rules(std::string_view name);

// docs/plan.md's reference of all tables, as Markdown.
std::string schema_markdown();

}  // namespace krl
