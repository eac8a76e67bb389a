#include "core/learn/returns.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace krl {
namespace {

TEST(Returns, SumDiscountsLaterScores) {
  const std::vector<double> r = turn_returns({1, 2, 4}, {ReturnKind::kSum, 0.5});
  EXPECT_DOUBLE_EQ(r[0], 1 + 0.5 * 2 + 0.25 * 4);
  EXPECT_DOUBLE_EQ(r[1], 2 + 0.5 * 4);
  EXPECT_DOUBLE_EQ(r[2], 4);
}

TEST(Returns, MaxTakesTheBestDiscountedScore) {
  const std::vector<double> r = turn_returns({1, 0, 4}, {ReturnKind::kMax, 0.5});
  EXPECT_DOUBLE_EQ(r[0], 1);  // 0.25 · 4 = 1 is no more
  EXPECT_DOUBLE_EQ(r[1], 2);
  EXPECT_DOUBLE_EQ(r[2], 4);
}

TEST(Returns, OfNoTurnsAreNone) { EXPECT_TRUE(turn_returns({}, {}).empty()); }

TEST(Advantages, Grpo) {
  // mean 2, sample standard deviation 2 (n - 1 = 2: (4 + 0 + 4) / 2 = 4)
  const std::vector<double> a = group_advantages({0, 2, 4}, AdvantageKind::kGrpo);
  EXPECT_DOUBLE_EQ(a[0], -2 / (2 + 1e-6));
  EXPECT_DOUBLE_EQ(a[1], 0);
  EXPECT_DOUBLE_EQ(a[2], 2 / (2 + 1e-6));
}

TEST(Advantages, DrGrpo) {
  EXPECT_EQ(group_advantages({0, 2, 4}, AdvantageKind::kDrGrpo), (std::vector<double>{-2, 0, 2}));
}

TEST(Advantages, RlooIsTheDifferenceToTheMeanOfTheOthers) {
  const std::vector<double> a = group_advantages({0, 2, 7}, AdvantageKind::kRloo);
  EXPECT_DOUBLE_EQ(a[0], 0 - (2 + 7) / 2.0);
  EXPECT_DOUBLE_EQ(a[1], 2 - (0 + 7) / 2.0);
  EXPECT_DOUBLE_EQ(a[2], 7 - (0 + 2) / 2.0);
}

TEST(Advantages, ZeroVariance) {
  EXPECT_TRUE(zero_variance({0.3, 0.3, 0.1 + 0.2}));
  EXPECT_FALSE(zero_variance({0.3, 0.31}));
  EXPECT_TRUE(zero_variance({1}));
  EXPECT_TRUE(zero_variance({}));
}

}  // namespace
}  // namespace krl
