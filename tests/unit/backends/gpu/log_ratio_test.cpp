#include "plugins/backends/evaluator/timing/log_ratio.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace krl {
namespace {

TEST(LogRatio, OfASixteenthOfSamplesIsTheKnownOrderStatistic) {
  // For 16 samples the 4th smallest and the 4th largest bound the median with 97.9 %, the 5th with
  // 92.3 % (the binomial distribution's tables).
  std::vector<double> baseline(16, 1), candidate;
  for (int i = 0; i < 16; ++i) candidate.push_back(std::exp(-i));
  const LogRatio ratio = log_ratio(baseline, candidate);
  EXPECT_DOUBLE_EQ(ratio.low, 3);
  EXPECT_DOUBLE_EQ(ratio.high, 12);
  EXPECT_DOUBLE_EQ(ratio.median, 7.5);
}

TEST(LogRatio, OfTheFewestSamplesIsTheirWholeRange) {
  const std::vector<double> baseline = {2, 2, 2, 2, 2, 2}, candidate = {1, 1, 1, 1, 1, 2};
  const LogRatio ratio = log_ratio(baseline, candidate);
  EXPECT_DOUBLE_EQ(ratio.low, 0);
  EXPECT_DOUBLE_EQ(ratio.high, std::log(2.0));
}

TEST(LogRatio, HoldsTheTrueMedianAsOftenAsItSays) {
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> noise(0, 0.05);
  for (const int n : {16, 40, 200}) {
    int held = 0;
    constexpr int kTrials = 2000;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<double> baseline, candidate;
      for (int i = 0; i < n; ++i) {
        baseline.push_back(1.2 * noise(random));
        candidate.push_back(noise(random));
      }
      const LogRatio ratio = log_ratio(baseline, candidate);
      held += ratio.low <= std::log(1.2) && std::log(1.2) <= ratio.high;
    }
    EXPECT_GE(held, kTrials * 0.94) << n;
  }
}

}  // namespace
}  // namespace krl
