// What a reward reads off a turn.
#include <gtest/gtest.h>
#include <kernelrl/sdk.hpp>
#include <kernelrl/testing.hpp>

namespace krl {
namespace {

using testing::TurnBuilder;

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

TEST(TurnView, GivesTheEvaluation) {
  TurnBuilder turn;
  turn.verdict(Verdict::kTimeout).speedup(3, 2, 4).kernel(32).value("barriers", 3).warning("odd");
  const Evaluation evaluation = Turn(turn.c()).evaluation();
  EXPECT_EQ(evaluation.verdict, Verdict::kTimeout);
  EXPECT_EQ(evaluation.speedup(), 2);
  EXPECT_EQ(evaluation.max_registers(), 32);
  EXPECT_EQ(evaluation.value("barriers"), 3);
  EXPECT_EQ(evaluation.diagnostics[0].text, "odd");
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
