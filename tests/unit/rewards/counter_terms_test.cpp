// warp_shuffle, coalescing, bandwidth, roofline: what follows from counters.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/rewards/builtin_term.hpp"

namespace krl {
namespace {

using testing::TurnBuilder;

TEST(WarpShuffle, PaysForShufflesThatDidNotCostSpeed) {
  const auto term = builtin_term("warp_shuffle");
  EXPECT_EQ(term.score(TurnBuilder().passed().speedup(1.0).value("shuffles", 160)), 1);
  EXPECT_EQ(term.score(TurnBuilder().passed().speedup(2.5).value("shuffles", 1)), 1);
}

TEST(WarpShuffle, DecorationEarnsNothing) {
  const auto term = builtin_term("warp_shuffle");
  EXPECT_EQ(term.score(TurnBuilder().passed().speedup(0.99).value("shuffles", 160)), 0) << "slower";
  EXPECT_EQ(term.score(TurnBuilder().passed().speedup(2, 0.9).value("shuffles", 160)), 0)
      << "perhaps slower";
  EXPECT_EQ(term.score(TurnBuilder().passed().speedup(2).value("shuffles", 0)), 0)
      << "not executed";
  EXPECT_EQ(term.score(TurnBuilder().passed().value("shuffles", 160)), 0) << "not timed";
  EXPECT_EQ(term.score(TurnBuilder().passed().speedup(2)), 0) << "not counted";
  EXPECT_EQ(
      term.score(TurnBuilder().verdict(Verdict::kWrongResult).speedup(2).value("shuffles", 160)), 0)
      << "wrong";
}

TurnBuilder with(const char* counter, double value) {
  return TurnBuilder().passed().value(counter, value);
}

TEST(Coalescing, PaysTheShareOfSectorsThatWereNeeded) {
  const auto term = builtin_term("coalescing");
  EXPECT_EQ(term.score(with("sectors_per_request", 4)), 1);
  EXPECT_EQ(term.score(with("sectors_per_request", 8)), 0.5);
  EXPECT_EQ(term.score(with("sectors_per_request", 32)), 0.125);
  EXPECT_EQ(term.score(with("sectors_per_request", 1)), 1) << "a broadcast is no waste";
}

TEST(Coalescing, PaysWhatWasCountedByWidth) {
  const auto term = builtin_term("coalescing");
  EXPECT_EQ(term.score(with("sectors_per_request", 16).value("coalescing", 1)), 1) << "float4";
  EXPECT_EQ(term.score(with("sectors_per_request", 4).value("coalescing", 0.25)), 0.25) << "bytes";
  EXPECT_EQ(term.score(with("coalescing", std::nan(""))), 0);
}

TEST(Coalescing, IdealFollowsTheSizeOfAnElement) {
  const auto term = builtin_term("coalescing", {{"ideal", 16.0}});
  EXPECT_EQ(term.score(with("sectors_per_request", 16)), 1);
  EXPECT_EQ(term.score(with("sectors_per_request", 32)), 0.5);
}

TEST(Coalescing, TakesTheMeanOfTheCases) {
  const auto term = builtin_term("coalescing");
  EXPECT_EQ(term.score(TurnBuilder()
                           .passed()
                           .value("sectors_per_request", 4, 0)
                           .value("sectors_per_request", 12, 1)),
            0.5);
}

TEST(Coalescing, WithoutTheCounterPaysNothing) {
  const auto term = builtin_term("coalescing");
  EXPECT_EQ(term.score(TurnBuilder().passed()), 0);
  EXPECT_EQ(term.score(with("sectors_per_request", 0)), 0);
  EXPECT_EQ(term.score(with("sectors_per_request", std::nan(""))), 0);
}

TEST(Bandwidth, PaysTheFraction) {
  const auto term = builtin_term("bandwidth");
  EXPECT_EQ(term.score(with("bandwidth_fraction", 0.75)), 0.75);
  EXPECT_EQ(term.score(with("bandwidth_fraction", 0)), 0);
  EXPECT_EQ(term.score(with("bandwidth_fraction", 1.2)), 1)
      << "more than the peak is an error of measurement";
  EXPECT_EQ(term.score(with("bandwidth_fraction", -1)), 0);
  EXPECT_EQ(term.score(with("bandwidth_fraction", std::nan(""))), 0);
  EXPECT_EQ(term.score(TurnBuilder().passed()), 0);
}

TEST(Roofline, FasterIsBetterEverywhere) {
  const auto term = builtin_term("roofline");
  double before = 0;
  for (double share = 1e-6; share <= 1; share *= 1.02) {
    const double paid = term.score(with("roofline", share));
    EXPECT_GT(paid, before) << share;
    EXPECT_LT(paid - before, 0.004) << share;
    before = paid;
  }
  EXPECT_NEAR(term.score(with("roofline", 0.5)) - term.score(with("roofline", 0.25)), 1.0 / 8,
              0.002);
}

TEST(Roofline, IsTheMeanOfItsLogarithmOverTheCases) {
  const auto term = builtin_term("roofline");
  const TurnBuilder turn = with("roofline", 1).value("roofline", 1.0 / 255, 1);
  EXPECT_DOUBLE_EQ(term.score(turn), (1 + 1.0 / 8) / 2);
  EXPECT_EQ(term.score(with("roofline", 1.3)), 1) << "a cache held the data";
}

TEST(Roofline, PaysOnlyForAMeasuredShareOfARightKernel) {
  const auto term = builtin_term("roofline");
  EXPECT_EQ(term.score(TurnBuilder().passed().speedup(9)), 0);
  EXPECT_EQ(term.score(with("roofline", std::nan(""))), 0);
  EXPECT_EQ(term.score(with("roofline", 1).verdict(Verdict::kWrongResult)), 0);
}

}  // namespace
}  // namespace krl
