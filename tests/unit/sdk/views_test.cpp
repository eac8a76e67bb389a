// What a reward reads off an evaluation.
#include <gtest/gtest.h>
#include <kernelrl/sdk.hpp>
#include <kernelrl/testing.hpp>

#include <cmath>

namespace krl {
namespace {

using testing::TurnBuilder;

Evaluation evaluation_of(const TurnBuilder& turn) { return Turn(turn.c()).evaluation(); }

TEST(EvaluationView, PassRateLeavesHoldoutsAside) {
  TurnBuilder turn;
  EXPECT_EQ(evaluation_of(turn).pass_rate(), 0);
  turn.untimed_case(KRL_VERDICT_OK).untimed_case(KRL_VERDICT_WRONG_RESULT);
  turn.holdout_case(KRL_VERDICT_WRONG_RESULT);
  EXPECT_EQ(evaluation_of(turn).pass_rate(), 0.5);
}

TEST(EvaluationView, PassRateCountsFreshShapes) {
  TurnBuilder turn;
  turn.untimed_case(KRL_VERDICT_OK).fresh_case(KRL_VERDICT_WRONG_RESULT);
  EXPECT_EQ(evaluation_of(turn).pass_rate(), 0.5);
}

TEST(EvaluationView, SpeedupIsTheGeometricMeanOfTheLowerEnds) {
  TurnBuilder turn;
  EXPECT_TRUE(std::isnan(evaluation_of(turn).speedup()));
  turn.speedup(9, 2).speedup(9, 8).untimed_case(KRL_VERDICT_OK);
  EXPECT_DOUBLE_EQ(evaluation_of(turn).speedup(), 4);
}

TEST(EvaluationView, CompiledFollowsTheVerdict) {
  EXPECT_TRUE(evaluation_of(TurnBuilder().verdict(KRL_VERDICT_LAUNCH_ERROR)).compiled());
  EXPECT_FALSE(evaluation_of(TurnBuilder().verdict(KRL_VERDICT_COMPILE_ERROR)).compiled());
  EXPECT_FALSE(evaluation_of(TurnBuilder().verdict(KRL_VERDICT_REJECTED)).compiled());
  EXPECT_FALSE(evaluation_of(TurnBuilder().verdict(KRL_VERDICT_FORMAT_ERROR)).compiled());
}

TEST(EvaluationView, FiguresOfTheNeediestKernel) {
  TurnBuilder turn;
  EXPECT_EQ(evaluation_of(turn).max_registers(), -1);
  EXPECT_TRUE(std::isnan(evaluation_of(turn).min_occupancy()));
  turn.kernel(32, 1024, 0.75).kernel(64, 512).kernel(-1);
  EXPECT_EQ(evaluation_of(turn).max_registers(), 64);
  EXPECT_EQ(evaluation_of(turn).max_shared_bytes(), 1024);
  EXPECT_EQ(evaluation_of(turn).max_spill_bytes(), -1);
  EXPECT_EQ(evaluation_of(turn).min_occupancy(), 0.75);
}

TEST(EvaluationView, ValuesAreFoundByNameAndAveragedOverCases) {
  TurnBuilder turn;
  turn.value("shuffles", 4, 0).value("shuffles", 8, 1).value("barriers", 3);
  EXPECT_EQ(evaluation_of(turn).value("shuffles"), 6);
  EXPECT_EQ(evaluation_of(turn).value("barriers"), 3);
  EXPECT_EQ(evaluation_of(turn).value("atomics"), std::nullopt);
}

TEST(TurnView, ReadsTheAnswerAndTheTurnBefore) {
  TurnBuilder turn;
  turn.previous(TurnBuilder().answer("first")).answer("second").thinking("why").source("what");
  turn.task("matmul", 2).stop_reason(KRL_STOP_LENGTH);
  const Turn view(turn.c());
  EXPECT_EQ(view.index(), 1u);
  EXPECT_EQ(view.answer(), "second");
  EXPECT_EQ(view.thinking(), "why");
  EXPECT_EQ(view.source(), "what");
  EXPECT_TRUE(view.truncated());
  EXPECT_EQ(view.task().id(), "matmul");
  EXPECT_EQ(view.task().tier(), 2u);
  ASSERT_TRUE(view.previous());
  EXPECT_EQ(view.previous()->answer(), "first");
  EXPECT_FALSE(view.previous()->previous());
}

TEST(Spans, BorrowWithoutCopying) {
  const std::int32_t tokens[] = {1, 2, 3};
  const Span<std::int32_t> s = span(krl_i32s{tokens, 3});
  EXPECT_EQ(s.data(), tokens);
  EXPECT_EQ(s.size(), 3u);
  EXPECT_EQ(s[2], 3);
  EXPECT_TRUE(span(krl_i32s{nullptr, 0}).empty());
}

}  // namespace
}  // namespace krl
