#include "core/learn/returns.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace krl::core {
namespace {

TEST(Returns, SumDiscountsLaterScores) {
  const std::vector<double> r = turn_returns({1, 2, 4}, 0, {ReturnKind::kSum, 0.5});
  EXPECT_DOUBLE_EQ(r[0], 1 + 0.5 * 2 + 0.25 * 4);
  EXPECT_DOUBLE_EQ(r[1], 2 + 0.5 * 4);
  EXPECT_DOUBLE_EQ(r[2], 4);
}

TEST(Returns, MaxTakesTheBestDiscountedScore) {
  const std::vector<double> r = turn_returns({1, 0, 4}, 0, {ReturnKind::kMax, 0.5});
  EXPECT_DOUBLE_EQ(r[0], 1);  // 0.25 · 4 = 1 is not more
  EXPECT_DOUBLE_EQ(r[1], 2);
  EXPECT_DOUBLE_EQ(r[2], 4);
}

TEST(Returns, OfNoTurnsAreNone) {
  EXPECT_TRUE(turn_returns({}, 0, {}).empty());
  EXPECT_TRUE(turn_returns({}, 3, {}).empty());
}

TEST(Returns, AnEpisodeThatStopsEarlyGoesOnScoringAsItDid) {
  const std::vector<double> r = turn_returns({1, 4}, 2, {ReturnKind::kSum, 0.5});
  EXPECT_EQ(r, (std::vector<double>{1 + 0.5 * 4 * 1.75, 4 * 1.75}));
  EXPECT_EQ(turn_returns({1, 4}, 2, {ReturnKind::kMax, 0.5}), (std::vector<double>{2, 4}));
  EXPECT_EQ(turn_returns({1, 4}, 2, {ReturnKind::kSum, 0.5, AfterStop::kZero}),
            (std::vector<double>{3, 4}));
}

// Five turns, discount 0.9, stop_when = "score >= 0.8".
TEST(Returns, ReachingTheGoalIsWorthMoreThanHoveringBelowIt) {
  const ReturnSettings s = {ReturnKind::kSum, 0.9};
  const double hovering = turn_returns({0.75, 0.75, 0.75, 0.75, 0.75}, 0, s)[0];
  EXPECT_GT(turn_returns({0.8}, 4, s)[0], hovering);
  EXPECT_GT(turn_returns({1.2}, 4, s)[0], turn_returns({0, 1.2}, 3, s)[0]) << "the sooner";
}

// Members of an episode each.
std::vector<Return> group_of(const std::vector<double>& values) {
  std::vector<Return> returns;
  for (const double value : values) returns.push_back({value, returns.size()});
  return returns;
}

TEST(Advantages, Grpo) {
  // mean 2, sample standard deviation 2 (n - 1 = 2: (4 + 0 + 4) / 2 = 4)
  const std::vector<double> a = group_advantages(group_of({0, 2, 4}), AdvantageKind::kGrpo);
  EXPECT_DOUBLE_EQ(a[0], -2 / (2 + 1e-6));
  EXPECT_DOUBLE_EQ(a[1], 0);
  EXPECT_DOUBLE_EQ(a[2], 2 / (2 + 1e-6));
}

TEST(Advantages, DrGrpo) {
  EXPECT_EQ(group_advantages(group_of({0, 2, 4}), AdvantageKind::kDrGrpo),
            (std::vector<double>{-2, 0, 2}));
}

TEST(Advantages, RlooIsTheDifferenceToTheMeanOfTheOthers) {
  const std::vector<double> a = group_advantages(group_of({0, 2, 7}), AdvantageKind::kRloo);
  EXPECT_DOUBLE_EQ(a[0], 0 - (2 + 7) / 2.0);
  EXPECT_DOUBLE_EQ(a[1], 2 - (0 + 7) / 2.0);
  EXPECT_DOUBLE_EQ(a[2], 7 - (0 + 2) / 2.0);
}

TEST(Advantages, RlooLeavesTheWholeEpisodeOut) {
  const std::vector<Return> returns = {{8, 0}, {6, 0}, {1, 1}, {3, 2}, {5, 2}};
  const std::vector<double> a = group_advantages(returns, AdvantageKind::kRloo);
  EXPECT_DOUBLE_EQ(a[0], 8 - (1 + 3 + 5) / 3.0) << "6 is the same episode's";
  EXPECT_DOUBLE_EQ(a[2], 1 - (8 + 6 + 3 + 5) / 4.0);
  EXPECT_DOUBLE_EQ(a[4], 5 - (8 + 6 + 1) / 3.0);
}

TEST(Advantages, SpreadIsFromTheSmallestReturnToTheLargest) {
  EXPECT_LE(spread_of(group_of({0.3, 0.3, 0.1 + 0.2})), kSameReturn);
  EXPECT_DOUBLE_EQ(spread_of(group_of({0.5, -0.25, 0.25})), 0.75);
  EXPECT_EQ(spread_of({}), 0);
}

}  // namespace
}  // namespace krl::core
