// speedup: its three shapes, its bounds, and the options that it refuses.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/unit/rewards/builtin_term.hpp"

namespace krl {
namespace {

using testing::TurnBuilder;

TEST(Speedup, LinearPaysTheSpeedupUpToTheCap) {
  const auto term = builtin_term("speedup");
  EXPECT_DOUBLE_EQ(term.score(faster(0.5)), 0.5);
  EXPECT_DOUBLE_EQ(term.score(faster(2)), 2);
  EXPECT_DOUBLE_EQ(term.score(faster(3)), 3);
  EXPECT_DOUBLE_EQ(term.score(faster(50)), 3);
}

TEST(Speedup, LinearStartsAtTheFloor) {
  const auto term = builtin_term("speedup", {{"floor", 1.0}, {"cap", 3.0}});
  EXPECT_EQ(term.score(faster(0.5)), 0);
  EXPECT_DOUBLE_EQ(term.score(faster(1.5)), 0.5);
  EXPECT_DOUBLE_EQ(term.score(faster(9)), 2);
}

TEST(Speedup, LogPaysOneForEachDoublingOverTheFloor) {
  const auto term = builtin_term("speedup", {{"shape", "log"}, {"floor", 0.5}, {"cap", 8.0}});
  EXPECT_EQ(term.score(faster(0.25)), 0);
  EXPECT_DOUBLE_EQ(term.score(faster(1)), 1);
  EXPECT_NEAR(term.score(faster(2)), 2, 1e-12);
  EXPECT_NEAR(term.score(faster(100)), 4, 1e-12);
}

TEST(Speedup, StepsCountsWhatWasReached) {
  const auto term = builtin_term("speedup", {{"shape", "steps"}, {"steps", {1.05, 1.5, 3.0}}});
  EXPECT_EQ(term.score(faster(1.0)), 0);
  EXPECT_EQ(term.score(faster(1.25)), 1);
  EXPECT_EQ(term.score(faster(1.75)), 2);
  EXPECT_EQ(term.score(faster(7)), 3);
}

TEST(Speedup, PaysWhatOfTheIntervalIsNearestToOne) {
  const auto term = builtin_term("speedup");
  const auto paid = [&](double low, double high) {
    return term.score(TurnBuilder().passed().speedup((low + high) / 2, low, high));
  };
  EXPECT_DOUBLE_EQ(paid(1.25, 2.0), 1.25);
  EXPECT_DOUBLE_EQ(paid(0.96, 1.03), 1) << "it may be as fast as the baseline";
  EXPECT_DOUBLE_EQ(paid(0.5, 0.75), 0.75) << "noise costs nothing";
  EXPECT_DOUBLE_EQ(term.score(TurnBuilder().passed().speedup(0.6, 0.5, std::nan(""))), 0.5);
  EXPECT_DOUBLE_EQ(term.score(TurnBuilder().passed().speedup(1, 0.9, 1.1).speedup(4)), 2);
}

TEST(Speedup, RisesWithTheTimesAndNeverJumps) {
  const auto term = builtin_term("speedup");
  double before = 0.9 * 1.03;
  for (double s = 0.9; s < 1.1; s += 0.001) {
    const double paid = term.score(TurnBuilder().passed().speedup(s, s * 0.97, s * 1.03));
    EXPECT_GE(paid, before - 1e-12);
    EXPECT_LT(paid - before, 0.0011);
    before = paid;
  }
}

TEST(Speedup, TakesTheGeometricMeanOfTheTimedCases) {
  const auto term = builtin_term("speedup");
  TurnBuilder turn = faster(1).speedup(4).untimed_case(Verdict::kOk);
  EXPECT_DOUBLE_EQ(term.score(turn), 2);
}

TEST(Speedup, WithoutATimePaysNothing) {
  const auto term = builtin_term("speedup");
  EXPECT_EQ(term.score(TurnBuilder().passed()), 0);
  EXPECT_EQ(term.score(TurnBuilder().passed().untimed_case(Verdict::kOk)), 0);
  EXPECT_EQ(term.score(TurnBuilder().passed().speedup(2, std::nan(""))), 0);
}

TEST(Speedup, ImpossibleTimesStayWithinTheBounds) {
  const auto term = builtin_term("speedup");
  EXPECT_EQ(term.score(faster(0)), 0);
  EXPECT_EQ(term.score(faster(-1)), 0);
  EXPECT_EQ(term.score(faster(std::numeric_limits<double>::infinity())), 0);  // not a time
  EXPECT_EQ(term.score(faster(1e300)), 3);
}

TEST(Speedup, AKernelThatDidNotPassIsNotFast) {
  const auto term = builtin_term("speedup");
  EXPECT_EQ(term.score(faster(2).verdict(Verdict::kFlagged)), 0);
  EXPECT_EQ(term.score(faster(2).verdict(Verdict::kWrongResult)), 0);
}

std::string refusal(testing::Table options) {
  try {
    builtin_term("speedup", std::move(options));
  } catch (const Failure& e) {
    EXPECT_EQ(e.code(), KRL_INVALID_ARGUMENT);
    return e.what();
  }
  return "";
}

TEST(Speedup, RefusesOptionsThatMeanNothing) {
  const char* const kSteps = "steps must rise, above floor and not above cap";
  const char* const kShape = "steps = [...] belongs to shape = \"steps\", and to no other";
  EXPECT_EQ(refusal({{"floor", 3.0}}), "cap must be larger than floor");
  EXPECT_EQ(refusal({{"shape", "log"}}), "shape log needs a floor above 0");
  EXPECT_EQ(refusal({{"shape", "steps"}}), kShape);
  EXPECT_EQ(refusal({{"steps", {1.5}}}), kShape);
  EXPECT_EQ(refusal({{"shape", "steps"}, {"steps", {2.0, 1.5}}}), kSteps);
  EXPECT_EQ(refusal({{"shape", "steps"}, {"steps", {4.0}}}), kSteps);
  EXPECT_EQ(refusal({{"shape", "steps"}, {"steps", testing::Value::json(R"([1.5, "two"])")}}),
            "steps: \"two\" is not a number");
}

}  // namespace
}  // namespace krl
