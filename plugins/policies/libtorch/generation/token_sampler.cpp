#include "plugins/policies/libtorch/generation/token_sampler.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "plugins/policies/libtorch/generation/kernels.hpp"

namespace krl::libtorch {

Draw TokenSampler::draw(std::span<const float> logits, const SamplingOptions& options,
                        double uniform) {
  const bool greedy = options.temperature <= 0;
  const auto scale = static_cast<float>(greedy ? 1.0 : 1.0 / options.temperature);
  const auto likeliest = std::max_element(logits.begin(), logits.end());
  const float shift = *likeliest * scale;
  probabilities_.resize(logits.size());
  for (std::size_t i = 0; i < logits.size(); ++i) probabilities_[i] = logits[i] * scale;
  const double total =
      kernels().exp_sum(probabilities_.data(), static_cast<std::int64_t>(logits.size()), shift);

  const bool cut = options.top_p < 1 ||
                   (options.top_k > 0 && options.top_k < static_cast<std::int64_t>(logits.size()));
  std::int32_t token = 0;
  if (greedy) {
    token = static_cast<std::int32_t>(likeliest - logits.begin());
  } else {
    token = draw_from_all(uniform * (cut ? keep_likeliest(options, total) : total));
  }
  const double scaled = static_cast<double>(logits[static_cast<std::size_t>(token)] * scale);
  return {token, static_cast<float>(scaled - shift - std::log(total))};
}

std::int32_t TokenSampler::draw_from_all(double target) const {
  double reached = 0;
  std::size_t last_possible = 0;
  for (std::size_t i = 0; i < probabilities_.size(); ++i) {
    if (probabilities_[i] == 0) continue;
    reached += probabilities_[i];
    last_possible = i;
    if (reached >= target) break;
  }
  return static_cast<std::int32_t>(last_possible);  // also if rounding kept the sum below `target`
}

double TokenSampler::keep_likeliest(const SamplingOptions& options, double total) {
  order_.resize(probabilities_.size());
  std::iota(order_.begin(), order_.end(), 0);
  const auto probability = [&](std::int32_t i) -> float& {
    return probabilities_[static_cast<std::size_t>(i)];
  };
  std::stable_sort(order_.begin(), order_.end(),
                   [&](auto a, auto b) { return probability(a) > probability(b); });
  std::size_t most = order_.size();
  if (options.top_k > 0 && options.top_k < static_cast<std::int64_t>(most)) {
    most = static_cast<std::size_t>(options.top_k);
    total = 0;
    for (std::size_t i = 0; i < most; ++i) total += probability(order_[i]);
  }
  double kept = 0;
  std::size_t size = 0;
  while (size < most && (size == 0 || kept < options.top_p * total)) {
    kept += probability(order_[size++]);
  }
  for (std::size_t i = size; i < order_.size(); ++i) probability(order_[i]) = 0;
  return kept;
}

}  // namespace krl::libtorch
