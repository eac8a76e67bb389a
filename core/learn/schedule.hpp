// The learning rate of an optimiser step.
#pragma once

#include <cstdint>

#include "core/plan/plan.hpp"
#include "core/plugin/policy.hpp"

namespace krl {

// The optimiser's settings for step `step` (from 0) of `total`: linear warm-up to lr, then
// constant, or linearly or by a half cosine down to min_lr at the last step.
Optimizer optimizer_at(const OptimizerSettings& settings, std::int64_t step, std::int64_t total);

}  // namespace krl
