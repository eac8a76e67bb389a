// The learning rate of an optimiser step.
#pragma once

#include <cstdint>

#include "core/plan/plan.hpp"
#include "core/plugin/policy.hpp"

namespace krl {

// The learning rate of a plan that has none: `whole` for a policy that trains all its weights;
// adapters of low rank, which are few and begin at zero, take a larger one.
double default_lr(const PolicyInfo& policy, double whole);
constexpr double kLrOfReinforcement = 1e-6, kLrOfSupervision = 1e-5;  // as `whole`

// The optimiser's settings for step `step` (from 0) of `total`: linear warm-up to lr, then
// constant, or linearly or by a half cosine down to min_lr at the last step. `otherwise`: the
// learning rate if the settings have none.
Optimizer optimizer_at(const OptimizerSettings& settings, double otherwise, std::int64_t step,
                       std::int64_t total);

}  // namespace krl
