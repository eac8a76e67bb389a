// The value of checkpoint.best for an iteration's metrics. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/metrics.hpp"
#include "core/plan/plan.hpp"

namespace krl::core {

// The value of the expression; nothing where the iteration did not measure all that it names, or it
// has none, as a division by 0. `terms`: names of the reward terms; `turns`: of an episode.
std::optional<double> worth_of(const Expression& best, const Metrics& metrics,
                               const std::vector<std::string>& terms, std::int64_t turns);

}  // namespace krl::core
