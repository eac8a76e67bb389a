// An optimiser step: the loss and the settings that it is given, and what the policy reports of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/metrics.hpp"
#include "core/base/result.hpp"
#include "core/plan/plan.hpp"
#include "core/plugin/policy.hpp"

namespace krl::core {

// The losses of a plan's stages, as the policy is told of them.

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

// The learning rate of a plan that has none: `whole` for a policy that trains all its weights;
// adapters of low rank, which are few and begin at zero, take a larger one.
double default_lr(const PolicyInfo& policy, double whole);
constexpr double kLrOfReinforcement = 1e-6, kLrOfSupervision = 1e-5;  // as `whole`

// The optimiser's settings for step `step` (from 0) of `total`: linear warm-up to lr, then
// constant, or linearly or by a half cosine down to min_lr at the last step. `otherwise`: the
// learning rate if the settings have none.
Optimizer optimizer_at(const OptimizerSettings& settings, double otherwise, std::int64_t step,
                       std::int64_t total);

// The figures that a policy reports of the optimiser steps of a stage; one thread. A step whose
// loss, gradient or other figure is not finite is counted, its other figures stay; several in a row
// end the run, as what was learned is lost then.
class StepFigures {
 public:
  // `policy`: its id.
  explicit StepFigures(std::string policy) : policy_(std::move(policy)) {}

  // Begins an iteration: forgets the figures of the one before, not how it ended.
  void begin_iteration();
  // The figures of one step. An error if it is one too many that is not finite.
  Status add(const Metrics& step);

  // The mean over the steps that gave a finite one; of a name that ends in "_max" the largest.
  std::optional<double> of(const std::string& name) const;
  // Steps of the iteration with a figure that is not finite.
  int not_finite() const { return not_finite_; }
  // "policy 'x' reported grad_norm = nan in 2 of 4 optimiser steps"; empty if there were none.
  std::string warning() const;

 private:
  const std::string policy_;
  Metrics sums_;
  std::map<std::string, int> counts_;  // of the summands
  int steps_ = 0, not_finite_ = 0;
  int in_a_row_ = 0;   // over the iterations
  std::string first_;  // of the iteration: "grad_norm = nan"
};

}  // namespace krl::core
