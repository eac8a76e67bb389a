#include "plugins/policies/tinker/service_loss.hpp"

#include <algorithm>
#include <cmath>

#include "plugins/policies/tinker/loss_gradients.hpp"

namespace krl::tinker {
namespace {

using policies::LossKind;
using policies::LossOptions;

std::size_t target_tokens(const LearnedExample& example) {
  return example.prompt.size() + example.tokens.size() - 1;
}

// Extends `values` of the answer's tokens to all targets, with 0 before.
std::vector<float> padded(const LearnedExample& example, const std::vector<double>& values) {
  std::vector<float> all(target_tokens(example));
  std::transform(values.begin(), values.end(),
                 all.begin() + static_cast<std::ptrdiff_t>(example.prompt.size() - 1),
                 [](double value) { return static_cast<float>(value); });
  return all;
}

// Returns the number that the service will divide by.
double divisor(const LearnedExample& example, Gradients gradients, std::size_t step_examples) {
  if (gradients == Gradients::kSum) return 1;
  return static_cast<double>(target_tokens(example)) * static_cast<double>(step_examples);
}

Datum datum_of(const LearnedExample& example) {
  Datum datum;
  datum.tokens = example.prompt;
  datum.tokens.insert(datum.tokens.end(), example.tokens.begin(), example.tokens.end());
  std::vector<std::int64_t> targets(datum.tokens.begin() + 1, datum.tokens.end());
  datum.tokens.pop_back();
  datum.inputs.emplace_back("target_tokens", std::move(targets));
  return datum;
}

bool has_negative_advantage(const std::vector<LearnedExample>& examples) {
  return std::any_of(examples.begin(), examples.end(), [](const LearnedExample& example) {
    return std::any_of(example.advantages.begin(), example.advantages.end(),
                       [](float a) { return a < 0; });
  });
}

ServiceLoss clipping(const char* loss_fn, const LossOptions& loss) {
  return {loss_fn,
          {{"clip_high_threshold", 1 + loss.clip_high}, {"clip_low_threshold", 1 - loss.clip_low}}};
}

}  // namespace

std::optional<ServiceLoss> own_loss(const LossOptions& loss,
                                    const std::vector<LearnedExample>& examples,
                                    Gradients gradients) {
  if (loss.kl > 0 || loss.kl_cov > 0) return std::nullopt;
  switch (loss.kind) {
    case LossKind::kCrossEntropy:
      if (gradients == Gradients::kMean) return std::nullopt;
      return ServiceLoss{"cross_entropy", {}};
    case LossKind::kImportanceSampling:
      return ServiceLoss{"importance_sampling", {}};
    case LossKind::kPpo:
      if (loss.dual_clip > 0 && has_negative_advantage(examples)) return std::nullopt;
      return clipping("ppo", loss);
    case LossKind::kCispo:
      return clipping("cispo", loss);
    case LossKind::kGspo:
      return std::nullopt;
  }
  return std::nullopt;
}

Datum own_loss_datum(const LossOptions& loss, const LearnedExample& example, Gradients gradients,
                     std::size_t step_examples) {
  std::vector<double> factors = loss_factors(loss, example);
  if (loss.tis > 0) {
    for (std::size_t i = 0; i < factors.size(); ++i) {
      const double log_ratio = static_cast<double>(example.old_logprobs[i]) - example.sampled[i];
      factors[i] *= std::min(policies::Ratio(log_ratio).value, loss.tis);
    }
  }
  Datum datum = datum_of(example);
  if (loss.kind == LossKind::kCrossEntropy) {
    datum.inputs.emplace_back("weights", padded(example, factors));
    return datum;
  }
  const double divided_by = divisor(example, gradients, step_examples);
  for (std::size_t i = 0; i < factors.size(); ++i) factors[i] *= divided_by * example.advantages[i];
  const std::vector<float>& base = loss.tis > 0 ? example.old_logprobs : example.sampled;
  datum.inputs.emplace_back("logprobs", padded(example, {base.begin(), base.end()}));
  datum.inputs.emplace_back("advantages", padded(example, factors));
  return datum;
}

ServiceLoss linear_loss(Gradients gradients) {
  if (gradients == Gradients::kSum) return {"cross_entropy", {}};
  // Its ratio clipped to 1, cispo is -A·θ.
  return {"cispo", {{"clip_high_threshold", 1}, {"clip_low_threshold", 1}}};
}

Datum linear_loss_datum(const LearnedExample& example, const std::vector<double>& gradient,
                        Gradients gradients, std::size_t step_examples) {
  const double divided_by = divisor(example, gradients, step_examples);
  std::vector<double> weights(gradient.size());
  std::transform(gradient.begin(), gradient.end(), weights.begin(),
                 [&](double g) { return -g * divided_by; });
  Datum datum = datum_of(example);
  if (gradients == Gradients::kSum) {
    datum.inputs.emplace_back("weights", padded(example, weights));
  } else {
    datum.inputs.emplace_back("logprobs", std::vector<float>(target_tokens(example)));
    datum.inputs.emplace_back("advantages", padded(example, weights));
  }
  return datum;
}

Datum forward_datum(const LearnedExample& example) {
  Datum datum = datum_of(example);
  datum.inputs.emplace_back("weights", std::vector<float>(target_tokens(example)));
  return datum;
}

std::vector<float> answer_logprobs(const LearnedExample& example,
                                   const std::vector<float>& logprobs) {
  if (logprobs.size() != target_tokens(example)) {
    throw Failure(KRL_UNAVAILABLE, "the service gave " + std::to_string(logprobs.size()) +
                                       " log-probabilities for " +
                                       std::to_string(target_tokens(example)) + " target tokens");
  }
  const auto begin = logprobs.begin() + static_cast<std::ptrdiff_t>(example.prompt.size() - 1);
  const auto wrong = std::find_if(begin, logprobs.end(), [](float logprob) {
    return !std::isfinite(logprob) || logprob > kLargestLogprob;
  });
  if (wrong != logprobs.end()) {
    throw Failure(KRL_UNAVAILABLE, "the service gave " + std::to_string(*wrong) +
                                       " as the log-probability of answer token " +
                                       std::to_string(wrong - begin));
  }
  return {begin, logprobs.end()};
}

}  // namespace krl::tinker
