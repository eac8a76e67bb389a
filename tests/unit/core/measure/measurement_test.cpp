#include "core/measure/measurement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace krl::core {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

const Task kEasy{"easy", "", "", 0, ""}, kHard{"hard", "", "", 1, ""};

TurnRecord evaluated_turn(Verdict verdict, double score, double speedup = kUnknown) {
  TurnRecord t;
  t.evaluation.verdict = verdict;
  t.score.total = score;
  if (verdict == Verdict::kOk) {
    Case c;
    c.speedup = c.speedup_low = c.speedup_high = speedup;
    t.evaluation.cases.push_back(c);
  }
  return t;
}
TurnRecord right(double speedup) { return evaluated_turn(Verdict::kOk, 1 + speedup, speedup); }
TurnRecord wrong() { return evaluated_turn(Verdict::kWrongResult, 0); }
TurnRecord lost() { return evaluated_turn(Verdict::kInfraError, 0); }

Episode episode(const Task& task, std::vector<TurnRecord> turns) {
  return {&task, {}, 0, std::move(turns)};
}

auto near(double value) { return DoubleNear(value, 1e-12); }

// A figure at k.
template <class Matcher>
auto at_k(int k, const Matcher& matcher) {
  return ::testing::Pair(k, matcher);
}

TEST(Measurement, IsTheMeanOverTasksOfTheirBestOfK) {
  const Measurement a = measurement_of("train",
                                       {episode(kEasy, {right(1)}), episode(kEasy, {wrong()}),
                                        episode(kHard, {wrong()}), episode(kHard, {wrong()})},
                                       {1, 2}, 1);
  EXPECT_EQ(a.episodes, 4);
  ASSERT_EQ(a.tasks.size(), 2U);
  EXPECT_EQ(a.tasks[0].id, "easy");
  EXPECT_THAT(a.tasks[0].figures.at("passed"), ElementsAre(at_k(1, near(0.5)), at_k(2, near(1))));
  EXPECT_THAT(a.tasks[1].figures.at("passed"), ElementsAre(at_k(1, near(0)), at_k(2, near(0))));
  EXPECT_THAT(a.figures.at("passed"), ElementsAre(at_k(1, near(0.25)), at_k(2, near(0.5))));
  EXPECT_THAT(a.figures.at("score"), ElementsAre(at_k(1, near(0.5)), at_k(2, near(1))));
  EXPECT_THAT(a.figures.at("speedup"), ElementsAre(at_k(1, near(0.25)), at_k(2, near(0.5))));
}

TEST(Measurement, FastIsCorrectAndFasterThanP) {
  const Measurement a =
      measurement_of("train", {episode(kEasy, {right(1)}), episode(kEasy, {right(1.75)})}, {1}, 1);
  EXPECT_THAT(a.figures.at("fast_0.5"), ElementsAre(at_k(1, near(1))));
  EXPECT_THAT(a.figures.at("fast_1"), ElementsAre(at_k(1, near(0.5)))) << "as fast is not faster";
  EXPECT_THAT(a.figures.at("fast_1.5"), ElementsAre(at_k(1, near(0.5))));
  EXPECT_THAT(a.figures.at("fast_2"), ElementsAre(at_k(1, near(0))));
}

TEST(Measurement, AnEpisodeIsWorthItsBestTurnSoFar) {
  const Measurement a = measurement_of("train",
                                       {episode(kEasy, {wrong(), right(2), right(0.75)}),
                                        episode(kEasy, {right(1)})},  // it stopped early
                                       {1}, 3);
  ASSERT_EQ(a.turns.size(), 3U);
  EXPECT_EQ(a.turns[0].kernels.count, 2);
  EXPECT_EQ(a.turns[1].kernels.count, 1);
  EXPECT_DOUBLE_EQ(a.turns[0].kernels.pass_rate(), 0.5);
  EXPECT_DOUBLE_EQ(a.turns[0].kernels.compile_rate(), 1);
  EXPECT_DOUBLE_EQ(a.turns[1].kernels.pass_rate(), 1);
  EXPECT_THAT(a.turns[0].so_far.at("speedup"), ElementsAre(at_k(1, near(0.5))));
  EXPECT_THAT(a.turns[1].so_far.at("speedup"), ElementsAre(at_k(1, near(1.5))));
  EXPECT_THAT(a.turns[2].so_far.at("speedup"), ElementsAre(at_k(1, near(1.5)))) << "the best stays";
  EXPECT_THAT(a.figures.at("speedup"), ElementsAre(at_k(1, near(1.5))));
}

TEST(Measurement, WhatCouldNotBeEvaluatedIsNoFailure) {
  const Measurement a =
      measurement_of("train",
                     {episode(kEasy, {lost()}), episode(kEasy, {right(1)}),
                      episode(kEasy, {right(1), lost()}), episode(kHard, {lost()})},
                     {1, 3}, 2);
  EXPECT_EQ(a.infra_errors, 3);
  EXPECT_EQ(a.episodes, 2);
  ASSERT_EQ(a.tasks.size(), 1U) << "of the other task nothing is known";
  EXPECT_EQ(a.tasks[0].episodes, 2);
  EXPECT_THAT(a.figures.at("passed"), ElementsAre(at_k(1, near(1)), at_k(3, near(1))));
  EXPECT_EQ(a.turns[1].kernels.count, 0);
}

TEST(Measurement, WithoutTimesThereAreNoSpeedups) {
  const Measurement a = measurement_of("train", {episode(kEasy, {right(kUnknown)})}, {1}, 1);
  EXPECT_FALSE(a.figures.contains("speedup"));
  EXPECT_FALSE(to_json(a)["at"].contains("speedup"));
  EXPECT_EQ(to_json(a)["at"]["passed"], nlohmann::json({{"1", 1.0}}));
}

TEST(Measurement, SharesOfTheRooflineAreOfTheBestKernel) {
  TurnRecord good = right(2), better = right(3);
  good.evaluation.values.push_back({0, "roofline", "", 0.25});
  better.evaluation.values.push_back({0, "roofline", "", 0.75});
  const Measurement a = measurement_of(
      "train", {episode(kEasy, {good, better}), episode(kEasy, {wrong()})}, {1, 2}, 2);
  EXPECT_THAT(a.figures.at("roofline"), ElementsAre(at_k(1, near(0.375)), at_k(2, near(0.75))));
  EXPECT_THAT(a.turns[0].so_far.at("roofline"),
              ElementsAre(at_k(1, near(0.125)), at_k(2, near(0.25))));
  EXPECT_TRUE(to_json(a)["at"].contains("roofline"));
  EXPECT_FALSE(
      measurement_of("train", {episode(kEasy, {right(1)})}, {1}, 1).figures.contains("roofline"))
      << "a backend that does not say";
}

TEST(Measurement, AKernelWithoutATimeLeavesTheSpeedupsOfTheOthers) {
  const Measurement a =
      measurement_of("train",
                     {episode(kEasy, {right(kUnknown)}), episode(kEasy, {right(3)}),
                      episode(kHard, {right(kUnknown)})},
                     {1}, 1);
  EXPECT_EQ(a.untimed, 2);
  ASSERT_TRUE(a.figures.contains("speedup"));
  EXPECT_THAT(a.figures.at("speedup"), ElementsAre(at_k(1, near(3))));
  EXPECT_THAT(a.figures.at("fast_2"), ElementsAre(at_k(1, near(1))));
  EXPECT_FALSE(a.tasks[1].figures.contains("speedup"));
}

TEST(Measurement, OfNothingIsEmpty) {
  const Measurement a = measurement_of("train", {episode(kEasy, {lost()})}, {1}, 1);
  EXPECT_TRUE(a.tasks.empty());
  EXPECT_EQ(to_json(a)["at"]["passed"], nlohmann::json::object());
}

}  // namespace
}  // namespace krl::core
