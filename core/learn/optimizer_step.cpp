#include "core/learn/optimizer_step.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace krl::core {
namespace {

// Resolves by_loss. Zheng et al. 2025 (GSPO) average over sequences; Liu et al. 2025 (Dr. GRPO)
// divide by a constant length, so that a long wrong answer is not penalised less per token.
Aggregation aggregation_of(const LearnSettings& learn) {
  if (learn.loss.aggregation != Aggregation::kByLoss) return learn.loss.aggregation;
  if (learn.loss.name == "gspo") return Aggregation::kSequenceMean;
  return learn.advantage == AdvantageKind::kDrGrpo ? Aggregation::kFixedLength
                                                   : Aggregation::kTokenMean;
}

std::uint32_t boundary_number(Aggregation aggregation) {
  if (aggregation == Aggregation::kSequenceMean) return KRL_SEQUENCE_MEAN;
  return aggregation == Aggregation::kTokenSum ? KRL_TOKEN_SUM : KRL_TOKEN_MEAN;
}

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

Loss loss_of(const Settings& settings) {
  const LearnSettings& learn = settings.learn;
  Loss loss;
  loss.name = learn.loss.name;
  loss.aggregation = boundary_number(aggregation_of(learn));
  loss.temperature = settings.rollout.temperature;
  for (const LossParameter& p : learn.loss.parameters) loss.parameters.push_back({p.name, p.value});
  for (const LossParameter& p : learn.critic) loss.parameters.push_back({p.name, p.value});
  return loss;
}

double normaliser_of(const Settings& settings, double examples, double tokens) {
  switch (aggregation_of(settings.learn)) {
    case Aggregation::kSequenceMean:
      return examples;
    case Aggregation::kFixedLength:
      return examples * static_cast<double>(settings.rollout.max_tokens);
    default:
      return tokens;
  }
}

double figures_scale(const Settings& settings, double examples, double tokens) {
  if (aggregation_of(settings.learn) != Aggregation::kFixedLength) return 1;
  return normaliser_of(settings, examples, tokens) / tokens;
}

Loss supervised_loss(double tokens) { return {"cross_entropy", KRL_TOKEN_MEAN, tokens, 1.0, {}}; }

double parameter_of(const LossSettings& loss, std::string_view name) {
  const auto at =
      std::ranges::find_if(loss.parameters, [&](const LossParameter& p) { return p.name == name; });
  return at == loss.parameters.end() ? 0 : at->value;
}

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

}  // namespace krl::core
