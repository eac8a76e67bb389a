// format and thinking: what follows from the answer's text.
#include <gtest/gtest.h>

#include "tests/unit/rewards/builtin_term.hpp"

namespace krl {
namespace {

using testing::TurnBuilder;

TEST(Format, PaysByForm) {
  const auto term = builtin_term("format", {{"tolerated", 0.25}, {"missing", -0.5}});
  EXPECT_EQ(term.score(TurnBuilder().format(KRL_FORMAT_EXACT)), 1);
  EXPECT_EQ(term.score(TurnBuilder().format(KRL_FORMAT_TOLERATED)), 0.25);
  EXPECT_EQ(term.score(TurnBuilder().format(KRL_FORMAT_MISSING)), -0.5);
  EXPECT_EQ(term.score(TurnBuilder().format(KRL_FORMAT_TRUNCATED)), -0.5);
}

TEST(Format, Defaults) {
  const auto term = builtin_term("format");
  EXPECT_EQ(term.score(TurnBuilder().format(KRL_FORMAT_TOLERATED)), 0.5);
  EXPECT_EQ(term.score(TurnBuilder().format(KRL_FORMAT_MISSING)), 0);
}

TurnBuilder asked(std::string thought) {
  return TurnBuilder()
      .prompt("Write your plan between <think> and </think>.")
      .thinking(std::move(thought));
}

TEST(Overlong, CostsMoreAndMoreInTheBufferBeforeTheLimit) {
  const auto term = builtin_term("overlong", {{"max_tokens", 1000}, {"buffer", 0.25}});
  const auto cost = [&](std::size_t tokens) { return term.score(TurnBuilder().tokens(tokens)); };
  EXPECT_EQ(cost(0), 0);
  EXPECT_EQ(cost(750), 0);
  EXPECT_DOUBLE_EQ(cost(800), -0.2);
  EXPECT_DOUBLE_EQ(cost(999), -249.0 / 250);
  EXPECT_EQ(cost(1000), -1);
  EXPECT_EQ(cost(5000), -1);
  EXPECT_EQ(builtin_term("overlong", {{"max_tokens", 10}, {"buffer", 0.0}})
                .score(TurnBuilder().tokens(9)),
            0);
}

TEST(Overlong, OfAnAnswerThatWasCutOffIsTheWholeCost) {
  const TurnBuilder cut = TurnBuilder().tokens(3).stop_reason(KRL_STOP_LENGTH);
  EXPECT_EQ(builtin_term("overlong").score(cut), -1);
  EXPECT_EQ(builtin_term("overlong", {{"max_tokens", 1000}}).score(cut), -1);
  EXPECT_EQ(builtin_term("overlong").score(TurnBuilder().tokens(5000)), 0) << "no limit is named";
}

TEST(Thinking, PaysTheSameForEveryLengthWithinTheLimits) {
  const auto term = builtin_term("thinking", {{"min_words", 3}, {"max_words", 6}});
  EXPECT_EQ(term.score(asked("")), 0);
  EXPECT_EQ(term.score(asked("memory bound")), 0);
  EXPECT_EQ(term.score(asked("it is memory")), 1);
  EXPECT_EQ(term.score(asked("it is memory bound so vectorise")), 1);
  EXPECT_EQ(term.score(asked("it is memory bound so vectorise loads")), 0);
}

TEST(Thinking, RepetitionAndSpaceAreNoThought) {
  const auto term = builtin_term("thinking", {{"min_words", 3}});
  EXPECT_EQ(term.score(asked("hmm hmm hmm hmm hmm hmm")), 0);
  EXPECT_EQ(term.score(asked("  \n\t   \n   ")), 0);
}

TEST(Thinking, PaysNothingWhereNobodyAsked) {
  const auto term = builtin_term("thinking", {{"min_words", 1}});
  EXPECT_EQ(term.score(TurnBuilder().prompt("Write a kernel.").thinking("it is memory bound")), 0);
}

TEST(Thinking, TheMarkOfAPromptThatAsksIsAnOption) {
  const TurnBuilder turn = TurnBuilder().prompt("Reason first.").thinking("it is memory bound");
  EXPECT_EQ(builtin_term("thinking", {{"min_words", 1}, {"asked_by", "Reason"}}).score(turn), 1);
  EXPECT_EQ(builtin_term("thinking", {{"min_words", 1}, {"asked_by", ""}}).score(turn), 1);
}

TEST(Thinking, RefusesLimitsThatNothingMeets) {
  EXPECT_THROW(builtin_term("thinking", {{"min_words", 7}, {"max_words", 6}}), Failure);
}

}  // namespace
}  // namespace krl
