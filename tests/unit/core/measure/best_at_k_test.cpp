#include "core/measure/best_at_k.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace krl::core {
namespace {

// By looking at every choice of k.
double enumerated(const std::vector<double>& values, std::size_t k) {
  double sum = 0;
  int choices = 0;
  for (unsigned choice = 0; choice < 1U << values.size(); ++choice) {
    if (static_cast<std::size_t>(std::popcount(choice)) != k) continue;
    double best = -INFINITY;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if ((choice >> i & 1U) != 0) best = std::max(best, values[i]);
    }
    sum += best;
    ++choices;
  }
  return sum / choices;
}

TEST(Estimators, TheBestOfKIsTheMeanOverAllChoices) {
  const std::vector<std::vector<double>> samples = {
      {3}, {0, 1}, {2, -1, 0.5}, {0, 0, 1.5, 1.5, 4}, {1, 9, 2, 8, 3, 7, 4, 6, 5, 0.25, 0, 0}};
  for (const auto& values : samples) {
    for (std::size_t k = 1; k <= values.size(); ++k) {
      EXPECT_NEAR(best_at_k(values, k), enumerated(values, k), 1e-12)
          << k << " of " << values.size();
    }
  }
}

double binomial(std::size_t n, std::size_t k) {
  double product = 1;
  for (std::size_t i = 1; i <= k; ++i)
    product *= static_cast<double>(n - k + i) / static_cast<double>(i);
  return k > n ? 0 : product;
}

TEST(Estimators, OfZerosAndOnesItIsPassAtK) {
  constexpr std::size_t kSamples = 20;
  for (std::size_t passed = 0; passed <= kSamples; ++passed) {
    std::vector<double> values(kSamples, 0);
    std::fill_n(values.begin(), passed, 1);
    for (std::size_t k = 1; k <= kSamples; ++k) {
      const double expected = 1 - binomial(kSamples - passed, k) / binomial(kSamples, k);
      EXPECT_NEAR(best_at_k(values, k), expected, 1e-12) << passed << " passed, k = " << k;
    }
  }
}

TEST(Estimators, ManySamplesAreNoTrouble) {
  std::vector<double> values(20000, 0);
  values[7] = 1;
  EXPECT_NEAR(best_at_k(values, 10000), 0.5, 1e-9);
  EXPECT_DOUBLE_EQ(best_at_k(values, values.size()), 1);
}

}  // namespace
}  // namespace krl::core
