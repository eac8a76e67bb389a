// The losses of a plan's stages, as the policy is told of them.
#pragma once

#include <string_view>

#include "core/plan/plan.hpp"
#include "core/plugin/policy.hpp"

namespace krl {

// Of a reinforcement stage, but for its normaliser.
Loss loss_of(const Settings& settings);

// The normaliser of an optimiser step with so many examples and tokens that count.
double normaliser_of(const Settings& settings, double examples, double tokens);

// What the policy's figures of such a step are to be multiplied by to be means over its tokens: 1
// but where the loss counts answers as longer than they are.
double figures_scale(const Settings& settings, double examples, double tokens);

// Of a supervised stage, over this many tokens.
Loss supervised_loss(double tokens);

// A parameter of a plan's loss, "kl"; 0 if the loss does not use it.
double parameter_of(const LossSettings& loss, std::string_view name);

}  // namespace krl
