#include "core/learn/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace krl {
namespace {

// The share of the way from lr down to min_lr that is left at `progress` in 0..1.
double remaining(Schedule schedule, double progress) {
  switch (schedule) {
    case Schedule::kConstant:
      return 1;
    case Schedule::kLinear:
      return 1 - progress;
    case Schedule::kCosine:
      return 0.5 * (1 + std::cos(std::numbers::pi * progress));
  }
  return 1;
}

}  // namespace

double default_lr(const PolicyInfo& policy, double whole) {
  constexpr double kOfAdapters = 4e-5;
  return (policy.exports & KRL_WEIGHTS_PEFT) != 0 ? kOfAdapters : whole;
}

Optimizer optimizer_at(const OptimizerSettings& s, double otherwise, std::int64_t step,
                       std::int64_t total) {
  const double lr = s.lr.value_or(otherwise);
  Optimizer optimizer{lr, s.beta1, s.beta2, s.epsilon, s.weight_decay, s.grad_clip};
  if (step < s.warmup) {
    optimizer.lr = lr * static_cast<double>(step + 1) / static_cast<double>(s.warmup);
  } else if (s.schedule != Schedule::kConstant) {
    const auto span = static_cast<double>(std::max<std::int64_t>(1, total - 1 - s.warmup));
    const double progress = std::min(1.0, static_cast<double>(step - s.warmup) / span);
    optimizer.lr = s.min_lr + (lr - s.min_lr) * remaining(s.schedule, progress);
  }
  return optimizer;
}

}  // namespace krl
