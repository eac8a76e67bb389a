// The end of an episode before its last turn.
#pragma once

#include <optional>

#include "core/base/result.hpp"
#include "core/episode/episode.hpp"
#include "core/plan/plan.hpp"

namespace krl::core {

// True if `stop_when` holds after the last turn of `episode`, which has a score; without a condition
// it never does. An error names the plan's key. Pure.
Result<bool> stops(const Episode& episode, const std::optional<Condition>& stop_when);

}  // namespace krl::core
