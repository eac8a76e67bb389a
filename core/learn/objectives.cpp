#include "core/learn/objectives.hpp"

#include <algorithm>
#include <cmath>
#include <kernelrl/seeds.hpp>
#include <map>
#include <numeric>

#include "core/base/metrics.hpp"

namespace krl::core {
namespace {

constexpr double kEpsilon = 1e-6;  // added to the standard deviation, as other trainers do

std::vector<double> values_of(const std::vector<Return>& returns) {
  std::vector<double> values;
  for (const Return& r : returns) values.push_back(r.value);
  return values;
}

std::vector<double> relative_to_mean(const std::vector<Return>& returns, bool normalised) {
  std::vector<double> values = values_of(returns);
  const double mean = mean_of(values);
  const double scale = normalised ? 1 / (deviation_of(values) + kEpsilon) : 1;
  for (double& value : values) value = (value - mean) * scale;
  return values;
}

// The turns of one episode have much in common, so that each baseline excludes its whole episode.
std::vector<double> leave_one_episode_out(const std::vector<Return>& returns) {
  struct Sum {
    double value = 0, count = 0;
    void add(double v) { value += v, ++count; }
  };
  Sum all;
  std::map<std::size_t, Sum> by_episode;
  for (const Return& r : returns) all.add(r.value), by_episode[r.episode].add(r.value);
  std::vector<double> advantages;
  advantages.reserve(returns.size());
  for (const Return& r : returns) {
    const Sum& own = by_episode[r.episode];
    advantages.push_back(r.value - (all.value - own.value) / (all.count - own.count));
  }
  return advantages;
}

// In rising order, the j-th (from 0) of the others is the best of k − 1 with the probability
// C(j, k − 2) / C(n − 1, k − 1). Only those below a member add to its advantage, and these have the
// same places in the order of all.
std::vector<double> gain_of_best(const std::vector<Return>& returns, std::size_t k) {
  const std::size_t n = returns.size();
  k = std::min(k, n);
  std::vector<double> best(n);  // by j
  double share = static_cast<double>(k - 1) / static_cast<double>(n - 1);
  for (std::size_t j = n - 1; j-- > k - 2;) {
    best[j] = share;
    if (j > 0) share *= static_cast<double>(j + 2 - k) / static_cast<double>(j);
  }
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return returns[i].value; });
  std::vector<double> advantages(n);
  double chance = 0, expected = 0;  // that the best of the others is below, and its sum
  for (std::size_t j = 0; j < n; ++j) {
    const double value = returns[order[j]].value;
    advantages[order[j]] = static_cast<double>(k) * (value * chance - expected);
    chance += best[j];
    expected += best[j] * value;
  }
  return advantages;
}

// q ∝ exp(β · excess), excess being 0 for the best and −1 for the worst; and KL(q ‖ uniform).
double tilt_of(const std::vector<double>& excess, double beta, std::vector<double>& q) {
  double sum = 0, divergence = 0;
  for (std::size_t i = 0; i < excess.size(); ++i) sum += q[i] = std::exp(beta * excess[i]);
  for (double& p : q) {
    p /= sum;
    if (p > 0) divergence += p * std::log(p * static_cast<double>(q.size()));
  }
  return divergence;
}

std::vector<double> tilted(const std::vector<Return>& returns, double tilt) {
  constexpr double kSteepest = 1e9;  // q is uniform over the best then
  constexpr int kHalvings = 100;
  std::vector<double> excess = values_of(returns), q(returns.size());
  const double most = std::ranges::max(excess), spread = std::max(spread_of(returns), kSameReturn);
  for (double& value : excess) value = (value - most) / spread;
  double low = 0, high = 1;
  while (high < kSteepest && tilt_of(excess, high, q) < tilt) low = high, high *= 2;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (tilt_of(excess, middle, q) < tilt ? low : high) = middle;
  }
  tilt_of(excess, high, q);
  for (double& p : q) p = p * static_cast<double>(q.size()) - 1;
  return q;
}

std::vector<double> excess_over_quantile(const std::vector<Return>& returns, double quantile) {
  std::vector<double> values = values_of(returns), sorted = values;
  std::ranges::sort(sorted);
  const double place = quantile * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const double above = sorted[std::min(below + 1, sorted.size() - 1)];
  const double limit = sorted[below] + (place - std::floor(place)) * (above - sorted[below]);
  for (double& value : values) value = std::max(value - limit, 0.0) / (1 - quantile);
  return values;
}

}  // namespace

std::vector<double> group_advantages(const std::vector<Return>& returns, AdvantageKind kind,
                                     const ObjectiveSettings& settings) {
  switch (kind) {
    case AdvantageKind::kRloo:
      return leave_one_episode_out(returns);
    case AdvantageKind::kMaxAtK:
      return gain_of_best(returns, static_cast<std::size_t>(settings.k));
    case AdvantageKind::kEntropic:
      return tilted(returns, settings.tilt);
    case AdvantageKind::kQuantile:
      return excess_over_quantile(returns, settings.quantile);
    default:
      return relative_to_mean(returns, kind == AdvantageKind::kGrpo);
  }
}

double spread_of(const std::vector<Return>& returns) {
  if (returns.empty()) return 0;
  const auto [least, most] = std::ranges::minmax_element(
      returns, [](const Return& a, const Return& b) { return a.value < b.value; });
  return most->value - least->value;
}

void weigh_unlikely(std::vector<Return>& returns, const std::vector<Likelihood>& answers,
                    double weight) {
  const auto n = static_cast<double>(answers.size());
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (!answers[i].passed || returns[i].value <= 0) continue;
    const auto likelier = std::ranges::count_if(
        answers, [&](const Likelihood& other) { return other.logprob > answers[i].logprob; });
    returns[i].value *= 1 - weight * (n - static_cast<double>(likelier)) / n;
  }
}

Covariance::Covariance(const std::vector<Example>& examples) {
  for (std::size_t e = 0; e < examples.size(); ++e) {
    for (std::size_t t = 0; t < examples[e].tokens.size(); ++t) {
      if (examples[e].weights[t] == 0.0F) continue;
      mean_logprob_ += examples[e].logprobs[t];
      mean_advantage_ += examples[e].advantages[t];
      tokens_.push_back({e, t, 0});
    }
  }
  mean_logprob_ /= std::max(static_cast<double>(tokens_.size()), 1.0);
  mean_advantage_ /= std::max(static_cast<double>(tokens_.size()), 1.0);
  for (Token& token : tokens_) {
    const Example& example = examples[token.example];
    token.covariance = (example.logprobs[token.position] - mean_logprob_) *
                       (example.advantages[token.position] - mean_advantage_);
  }
}

void Covariance::clip(std::vector<Example>& examples, double share, double low, double high,
                      std::uint64_t seed) const {
  auto left = static_cast<std::size_t>(share * static_cast<double>(tokens_.size()));
  std::vector<const Token*> within;
  for (const Token& token : tokens_)
    if (token.covariance >= low && token.covariance <= high) within.push_back(&token);
  for (std::size_t n = within.size(); n > 0 && left > 0; --n, --left) {
    std::swap(within[mixed(seed += kSeedStep) % n], within[n - 1]);
    examples[within[n - 1]->example].weights[within[n - 1]->position] = 0.0F;
  }
}

std::vector<LossParameter> Covariance::penalty(double share, double weight) const {
  const auto count = static_cast<std::size_t>(share * static_cast<double>(tokens_.size()));
  if (count == 0) return {};
  std::vector<double> covariances;
  for (const Token& token : tokens_) covariances.push_back(token.covariance);
  std::ranges::nth_element(covariances,
                           covariances.begin() + static_cast<std::ptrdiff_t>(count - 1),
                           std::ranges::greater());
  return {{"kl_cov", weight},
          {"cov_logprob", mean_logprob_},
          {"cov_advantage", mean_advantage_},
          {"cov_least", covariances[count - 1]}};
}

}  // namespace krl::core
