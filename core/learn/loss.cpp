#include "core/learn/loss.hpp"

#include <algorithm>

namespace krl {
namespace {

// What by_loss stands for. Zheng et al. 2025 (GSPO) average over sequences; Liu et al. 2025 (Dr.
// GRPO) divide by a constant length, so that a long wrong answer is not blamed less a token.
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

}  // namespace

Loss loss_of(const Settings& settings) {
  const LearnSettings& learn = settings.learn;
  Loss loss;
  loss.name = learn.loss.name;
  loss.aggregation = boundary_number(aggregation_of(learn));
  loss.temperature = settings.rollout.temperature;
  for (const LossParameter& p : learn.loss.parameters)
    loss.parameters.emplace_back(p.name, p.value);
  for (const LossParameter& p : learn.critic) loss.parameters.emplace_back(p.name, p.value);
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
  const auto at = std::find_if(loss.parameters.begin(), loss.parameters.end(),
                               [&](const LossParameter& p) { return p.name == name; });
  return at == loss.parameters.end() ? 0 : at->value;
}

}  // namespace krl
