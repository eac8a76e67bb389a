#include "plugins/backends/evaluator/timing/log_ratio.hpp"

#include <algorithm>
#include <cmath>

namespace krl::evaluator {
namespace {

constexpr double kTail = 0.05;             // probability of each tail
constexpr double kNormalQuantile = 1.645;  // its quantile
constexpr std::size_t kExact = 50;         // samples; of more, ranks' sum is as good as normal

// Returns the largest rank k such that the k-th smallest mean of two of n samples is above the
// median with a probability of at most kTail: P(W < k) ≤ kTail, where W is the sum of the ranks 1
// to n, each counted or not by the toss of a coin.
std::size_t lower_rank(std::size_t n) {
  if (n > kExact) {
    const auto m = static_cast<double>(n);
    const double deviation = std::sqrt(m * (m + 1) * (2 * m + 1) / 24);
    return static_cast<std::size_t>(m * (m + 1) / 4 - kNormalQuantile * deviation);
  }
  const std::size_t most = n * (n + 1) / 2;
  std::vector<double> probability(most + 1);  // probability of each sum
  probability[0] = std::ldexp(1.0, -static_cast<int>(n));
  for (std::size_t rank = 1; rank <= n; ++rank) {
    for (std::size_t sum = most; sum >= rank; --sum) probability[sum] += probability[sum - rank];
  }
  double below = 0;
  for (std::size_t k = 0; k <= most; ++k) {
    below += probability[k];
    if (below > kTail) return k;
  }
  return most;
}

}  // namespace

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

LogRatio log_ratio(std::span<const double> baseline, std::span<const double> candidate) {
  std::vector<double> x, means;
  for (std::size_t i = 0; i < baseline.size(); ++i) {
    x.push_back(std::log(baseline[i] / candidate[i]));
    for (const double other : x) means.push_back((x.back() + other) / 2);
  }
  // There are 20,000 of them for 200 samples, and a GPU waits: they are not sorted for a few
  // places.
  const auto at = [&](std::size_t place) {
    const auto found = means.begin() + static_cast<std::ptrdiff_t>(place);
    std::nth_element(means.begin(), found, means.end());
    return *found;
  };
  const std::size_t n = means.size();
  const std::size_t rank = std::max<std::size_t>(lower_rank(x.size()), 1);
  return {(at((n - 1) / 2) + at(n / 2)) / 2, at(rank - 1), at(n - rank)};
}

}  // namespace krl::evaluator
