#include "core/learn/returns.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace krl::core
