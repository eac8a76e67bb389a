#include "core/learn/budget.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace krl::test::budget {
using namespace core;
namespace {

const Task kTask{"t", "", "", 0, ""};

// A round of one answer of `tokens` to a prompt of ten.
RolloutResult round_of(std::size_t tokens) {
  TurnRecord turn;
  turn.answer.text = "answer";
  turn.answer.tokens.resize(tokens);
  turn.answer.prompt_tokens.resize(10);
  RolloutResult rollout;
  rollout.episodes = {{&kTask, {1, 0}, 0, {turn}}};
  return rollout;
}

BudgetSettings limits() { return {}; }

TEST(Budget, EndsWithTheTokensThatWereSampledThoseOfDroppedAnswersIncluded) {
  BudgetSettings tokens = limits();
  tokens.tokens = 100;
  Budget budget(tokens);
  ASSERT_TRUE(budget.add(round_of(60), 1));
  EXPECT_FALSE(budget.used_up());
  RolloutResult more = round_of(10);
  more.episodes[0].turns[0].dropped = 2;
  more.episodes[0].turns[0].dropped_tokens = 30;
  ASSERT_TRUE(budget.add(more, 1));
  EXPECT_TRUE(budget.used_up());
  EXPECT_EQ(budget.metrics().at("budget/answer_tokens"), 100);
  EXPECT_EQ(budget.metrics().at("budget/prompt_tokens"), 40) << "three prompts in the second round";
}

TEST(Budget, BelievesThePolicysOwnCount) {
  Budget budget(limits());
  RolloutResult rollout = round_of(0);
  rollout.sampling = {{"answer_tokens", 70}, {"prompt_tokens", 500}};
  ASSERT_TRUE(budget.add(rollout, 1));
  EXPECT_EQ(budget.metrics().at("budget/answer_tokens"), 70);
  EXPECT_EQ(budget.metrics().at("budget/prompt_tokens"), 500);
}

TEST(Budget, PaysPromptsAndAnswers) {
  BudgetSettings dollars = limits();
  dollars.dollars = 0.0005;
  dollars.prompt_price = 2;
  dollars.answer_price = 8;
  Budget budget(dollars);
  ASSERT_TRUE(budget.add(round_of(50), 1));
  EXPECT_DOUBLE_EQ(budget.dollars(), (10 * 2 + 50 * 8) / 1e6);
  EXPECT_FALSE(budget.used_up());
  ASSERT_TRUE(budget.add(round_of(50), 1));
  EXPECT_TRUE(budget.used_up());
}

TEST(Budget, EndsAfterItsMinutesAlsoAcrossAResume) {
  BudgetSettings minutes = limits();
  minutes.minutes = 1;
  Budget before(minutes), after(minutes);
  ASSERT_TRUE(before.add(round_of(1), 40));
  EXPECT_FALSE(before.used_up());
  after.restore(before.state());
  ASSERT_TRUE(after.add(round_of(1), 20));
  EXPECT_TRUE(after.used_up());
  EXPECT_EQ(after.metrics().at("budget/answer_tokens"), 2);
}

TEST(Budget, IsAnErrorIfItNeedsTokensThatThePolicyDoesNotCount) {
  BudgetSettings tokens = limits();
  tokens.tokens = 100;
  const Status added = Budget(tokens).add(round_of(0), 1);
  ASSERT_FALSE(added);
  EXPECT_THAT(added.error().message, ::testing::HasSubstr("use budget.kernels"));
  EXPECT_TRUE(Budget(limits()).add(round_of(0), 1)) << "no limit needs them";
}

TEST(Budget, IsAnErrorIfPromptsCostWhatThePolicyDoesNotCount) {
  BudgetSettings dollars = limits();
  dollars.dollars = 1;
  dollars.prompt_price = 2;
  RolloutResult rollout = round_of(10);
  rollout.episodes[0].turns[0].answer.prompt_tokens.clear();
  const Status added = Budget(dollars).add(rollout, 1);
  ASSERT_FALSE(added);
  EXPECT_THAT(added.error().message, ::testing::HasSubstr("its prompts have"));
}

}  // namespace
}  // namespace krl::test::budget
