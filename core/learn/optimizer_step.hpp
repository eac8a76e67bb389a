// The inputs of an optimiser step: the loss of a plan's stage and the optimiser's settings.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/plan/plan.hpp"
#include "core/plugin/policy.hpp"

namespace krl::core {

// Returns the loss of a reinforcement stage, without its normaliser.
Loss loss_of(const Settings& settings);

// The normaliser of an optimiser step with so many examples and tokens that count.
double normaliser_of(const Settings& settings, double examples, double tokens);

// Factor that turns a step's reported sums into token means; differs from 1 only for losses with a
// fixed length.
double figures_scale(const Settings& settings, double examples, double tokens);

// Returns the loss of a supervised stage over this many tokens.
Loss supervised_loss(double tokens);

// A parameter of a plan's loss, "kl"; 0 if the loss does not use it.
double parameter_of(const LossSettings& loss, std::string_view name);

// The learning rate of a plan that has none: `whole` for a policy that trains all its weights;
// adapters of low rank, which are few and begin at zero, take a larger one.
double default_lr(const PolicyInfo& policy, double whole);
constexpr double kLrOfReinforcement = 1e-6, kLrOfSupervision = 1e-5;  // values of `whole`

// The optimiser's settings for step `step` (from 0) of `total`: linear warm-up to lr, then
// constant, or linearly or by a half cosine down to min_lr at the last step. `otherwise`: the
// learning rate if the settings have none.
Optimizer optimizer_at(const OptimizerSettings& settings, double otherwise, std::int64_t step,
                       std::int64_t total);

}  // namespace krl::core
