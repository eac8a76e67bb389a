// The components that a plan may name, as far as a plan is checked against them.
// Plain data, made from the loaded plugins; core/plan itself knows no plugins.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/plan/key_rule.hpp"

namespace krl {

// The kinds of components; the numbers are the boundary's (KRL_POLICY …).
enum class Kind : std::uint8_t { kPolicy = 1, kBackend, kReward, kDataset };

// "policy", "backend", "reward", "dataset".
std::string_view name_of(Kind kind);

struct CatalogEntry {
  Kind kind = Kind::kPolicy;
  std::string id;
  std::vector<KeyRule> keys;
};

struct Catalog {
  std::vector<CatalogEntry> entries;
  std::vector<std::string> searched;  // folders, first to last
  std::vector<std::string> refused;   // "FILE: why", plugins that could not be loaded
  std::vector<std::string> replaced;  // "reward.speedup": taken from a stranger's plugin, as the
                                      // plan asked

  const CatalogEntry* find(Kind kind, std::string_view id) const;
  std::vector<std::string> ids(Kind kind) const;
  // Where an id was looked for that is not there, "searched: …", "not loaded: …", each after
  // `separator`.
  std::string search_report(const std::string& separator = "   ") const;
};

}  // namespace krl
