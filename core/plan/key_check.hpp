// Checks a table of a plan against its rules, fills the defaults in, and makes paths absolute.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/plan/keys.hpp"
#include "core/plan/node.hpp"
#include "core/plan/source.hpp"

namespace krl::core {

struct TableContext {
  std::string where;                    // for messages: "in [rollout]", "for reward 'speedup'"
  std::vector<std::string> other_keys;  // known here, but not described by rules; left alone
  std::filesystem::path folder;         // relative paths of defaults start here
};

// Errors go to `problems`; values without errors are usable afterwards. REQUIRES: a table.
void check_table(Node& table, const std::vector<KeyRule>& rules, const TableContext& context,
                 std::vector<Problem>& problems);

// Makes a text a path relative to the file that holds it, or to `default_folder` if none does.
void make_absolute(Node& node, const std::filesystem::path& default_folder);

// "did you mean 'weight'?   known keys: cap, weight".
std::string spelling_hint(const std::string& name, const std::vector<std::string>& known,
                          const std::string& what);

}  // namespace krl::core
