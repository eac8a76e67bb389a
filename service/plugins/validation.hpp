// Tries whether components keep the contract of the boundary: every rule of contract.hpp in a child
// process of its own, so that one that crashes, exits or hangs breaks that rule and no other. Main
// thread, before any other thread runs.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/plugin/registry.hpp"

namespace krl::service {
using namespace core;

struct RuleResult {
  enum Outcome { kHolds, kBroken, kExempt } outcome = kHolds;
  std::string rule, meaning;
  std::string why;  // how it is broken, or why it does not apply
};

struct ValidationSettings {
  std::vector<std::string> options;  // "limit=3", where the component is not to have its defaults
  std::chrono::seconds limit{60};    // for a rule
};

// Tries every rule of its kind. An error: the options are not those of the component.
Result<std::vector<RuleResult>> validate(const Component& component, const Registry& registry,
                                         const ValidationSettings& settings);

}  // namespace krl::service
