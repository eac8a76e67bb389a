// The contract of each kind of component as rules that can be tried. A rule makes calls as a run
// would, or as a run should not; the wrappers of core/plugin notice what breaks the boundary's
// rules in them, and the rule what they cannot know.
#pragma once

#include <span>

#include "core/base/result.hpp"
#include "core/plugin/session.hpp"

namespace krl::service {
using namespace core;

// The component under test. An instance is made by each rule.
struct Subject {
  Components& components;
  Components& others;     // that share nothing with them
  Components& cancelled;  // every call of these is cancelled from the start
  const ComponentSettings& settings;
  const Component& component;

  bool declares(std::uint32_t flag) const { return (component.flags & flag) != 0; }
};

struct Rule {
  const char* name;     // "repeatable"
  const char* meaning;  // "the same index gives the same item": a sentence
  // An error tells how it is broken.
  Status (*check)(const Subject& subject);
  // Empty, or why the rule does not apply: "it does not declare itself deterministic".
  const char* (*exempt)(const Subject& subject) = nullptr;
};

std::span<const Rule> reward_rules();
std::span<const Rule> dataset_rules();
std::span<const Rule> backend_rules();
std::span<const Rule> policy_rules();

inline std::span<const Rule> rules_of(Kind kind) {
  if (kind == Kind::kReward) return reward_rules();
  if (kind == Kind::kDataset) return dataset_rules();
  return kind == Kind::kBackend ? backend_rules() : policy_rules();
}

// Why rules about repetition and overlap do not apply; null if they do.
const char* unless_deterministic(const Subject& subject);
const char* unless_thread_safe(const Subject& subject);

// The task that the rules use: out[i] = 2 * x[i].
Task doubling_task();

// An error of the contract.
inline tl::unexpected<Error> broken(std::string why) {
  return failure(Code::kFailedPrecondition, std::move(why));
}

}  // namespace krl::service
