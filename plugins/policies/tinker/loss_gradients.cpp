#include "plugins/policies/tinker/loss_gradients.hpp"

namespace krl::tinker {
namespace {

using policies::LossKind;
using policies::LossMetrics;
using policies::LossOptions;
using policies::TokenState;

// The log ratio of gspo's whole answer.
double sequence_log_ratio(const LossOptions& loss, const LearnedExample& example,
                          std::span<const float> now) {
  const std::vector<float>& base = loss.tis > 0 ? example.old_logprobs : example.sampled;
  return policies::mean_log_ratio(std::vector<double>(now.begin(), now.end()),
                                  std::vector<double>(base.begin(), base.end()), example.weights);
}

}  // namespace

std::vector<double> loss_factors(const LossOptions& loss, const LearnedExample& example) {
  std::vector<double> factors(example.tokens.size()), shares(example.tokens.size());
  policies::weigh_tokens(loss, example.weights, factors, shares);
  return factors;
}

std::vector<double> loss_gradient(const LossOptions& loss, const LearnedExample& example,
                                  std::span<const float> now, LossMetrics& metrics) {
  const std::size_t n = example.tokens.size();
  std::vector<double> factors(n), shares(n), gradient(n);
  policies::weigh_tokens(loss, example.weights, factors, shares);
  const double log_ratio =
      loss.kind == LossKind::kGspo ? sequence_log_ratio(loss, example, now) : 0;
  for (std::size_t i = 0; i < n; ++i) {
    TokenState token;
    token.now = now[i];
    token.is_sampled = !example.sampled.empty();
    if (token.is_sampled) token.sampled = example.sampled[i];
    token.start = example.old_logprobs.empty() ? token.now : example.old_logprobs[i];
    if (!example.reference_logprobs.empty()) token.reference = example.reference_logprobs[i];
    if (!example.advantages.empty()) token.advantage = example.advantages[i];
    token.sequence_log_ratio = log_ratio;
    token.factor = factors[i];
    token.share = shares[i];
    gradient[i] = policies::token_loss(loss, token, metrics).by_logprob;
  }
  return gradient;
}

}  // namespace krl::tinker
