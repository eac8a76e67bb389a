#include "plugins/backends/evaluator/timing/log_ratio.hpp"

#include <algorithm>
#include <cmath>

namespace krl {
namespace {

constexpr double kTail = 0.025;  // of each side

// The largest rank k such that the k-th smallest of n samples lies above the median with a
// probability of at most kTail: P(fewer than k of n fair coins show heads) ≤ kTail.
std::size_t lower_rank(std::size_t n) {
  double probability = std::ldexp(1.0, -static_cast<int>(n)), sum = 0;
  for (std::size_t k = 0; k < n; ++k) {
    sum += probability;
    if (sum > kTail) return k;
    probability *= static_cast<double>(n - k) / static_cast<double>(k + 1);
  }
  return n;
}

}  // namespace

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

LogRatio log_ratio(std::span<const double> baseline, std::span<const double> candidate) {
  std::vector<double> x;
  for (std::size_t i = 0; i < baseline.size(); ++i) {
    x.push_back(std::log(baseline[i] / candidate[i]));
  }
  std::sort(x.begin(), x.end());
  const std::size_t rank = std::max<std::size_t>(lower_rank(x.size()), 1);
  return {median_of(x), x[rank - 1], x[x.size() - rank]};
}

}  // namespace krl
