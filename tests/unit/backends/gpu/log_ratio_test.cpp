#include "plugins/backends/evaluator/timing/log_ratio.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

namespace krl::cuda {
using namespace evaluator;
namespace {

// The critical value of Wilcoxon's signed ranks, two sides of 5 % each, is 10 for 10 samples and
// 35 for 16 (its tables); the bound is the next of the means, in their order.
TEST(LogRatio, IsBoundByTheMeansThatTheTablesName) {
  for (const auto& [n, critical] : {std::pair{10, 10}, {16, 35}}) {
    const std::vector<double> baseline(static_cast<std::size_t>(n), 1);
    std::vector<double> candidate, means;
    for (int i = 0; i < n; ++i) {
      candidate.push_back(std::exp(-i - 0.05 * i * i));
      for (int j = 0; j <= i; ++j) means.push_back((i + j + 0.05 * (i * i + j * j)) / 2);
    }
    std::sort(means.begin(), means.end());
    const LogRatio ratio = log_ratio(baseline, candidate);
    EXPECT_NEAR(ratio.low, means[static_cast<std::size_t>(critical)], 1e-9) << n;
    EXPECT_NEAR(ratio.high, means[means.size() - 1 - static_cast<std::size_t>(critical)], 1e-9)
        << n;
    EXPECT_NEAR(ratio.median, median_of(means), 1e-9) << n;
  }
}

TEST(LogRatio, OfTheFewestSamplesIsTheirWholeRange) {
  const std::vector<double> baseline(5, 2), candidate = {1, 1, 1, 1, 2};
  const LogRatio ratio = log_ratio(baseline, candidate);
  EXPECT_DOUBLE_EQ(ratio.low, 0);
  EXPECT_DOUBLE_EQ(ratio.high, std::log(2.0));
}

TEST(LogRatio, HardlyMovesForOutliers) {
  std::vector<double> baseline(16, 1), candidate;
  for (int i = 0; i < 16; ++i) candidate.push_back(std::exp(i < 8 ? -0.001 * i : 0.001 * (i - 7)));
  const double width = log_ratio(baseline, candidate).half_width();
  baseline[3] = 100;
  EXPECT_LT(log_ratio(baseline, candidate).half_width(), 2 * width);
}

TEST(LogRatio, IsWidenedOnBothSides) {
  const LogRatio ratio = LogRatio{0.02, 0.01, 0.03}.widened(0.004);
  EXPECT_DOUBLE_EQ(ratio.median, 0.02);
  EXPECT_DOUBLE_EQ(ratio.low, 0.006);
  EXPECT_DOUBLE_EQ(ratio.high, 0.034);
}

TEST(LogRatio, HoldsTheTrueMedianAsOftenAsItSays) {
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> noise(0, 0.05);
  for (const int n : {16, 40, 64, 200}) {
    int held = 0;
    const int trials = 32'000 / n;
    for (int trial = 0; trial < trials; ++trial) {
      std::vector<double> baseline, candidate;
      for (int i = 0; i < n; ++i) {
        baseline.push_back(1.2 * noise(random));
        candidate.push_back(noise(random));
      }
      const LogRatio ratio = log_ratio(baseline, candidate);
      held += ratio.low <= std::log(1.2) && std::log(1.2) <= ratio.high;
    }
    EXPECT_GE(held, trials * 0.88) << n;
  }
}

}  // namespace
}  // namespace krl::cuda
