#include "core/learn/samples.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace krl {
namespace {

const Task kTask{"t", "", "", 0, ""};

TurnRecord turn(double score, std::int32_t token, Verdict verdict = Verdict::kOk) {
  TurnRecord t;
  t.answer.prompt_tokens = {7};
  t.answer.tokens = {token, token};
  t.answer.logprobs = {-0.5F, -0.25F};
  t.evaluation.verdict = verdict;
  t.score.total = score;
  return t;
}

Episode episode(std::size_t group, std::vector<TurnRecord> turns) {
  return {&kTask, group, 0, std::move(turns)};
}

LearnSettings settings() {
  LearnSettings s;
  s.returns = {ReturnKind::kSum, 0.5};
  s.advantage = AdvantageKind::kDrGrpo;
  return s;
}

TEST(Samples, EachTurnIsASampleWithTheAdvantageOfItsReturn) {
  const SampleSet set =
      select_samples({episode(0, {turn(0, 1), turn(2, 2)}), episode(0, {turn(3, 3)})}, settings());
  ASSERT_EQ(set.examples.size(), 3U);
  // Returns 0 + 0.5 · 2 = 1, 2 and 3; their mean is 2.
  EXPECT_EQ(set.examples[0].advantages, (std::vector<float>{-1, -1}));
  EXPECT_EQ(set.examples[1].advantages, (std::vector<float>{0, 0}));
  EXPECT_EQ(set.examples[2].advantages, (std::vector<float>{1, 1}));
  EXPECT_EQ(set.examples[2].tokens, (std::vector<std::int32_t>{3, 3}));
  EXPECT_EQ(set.examples[2].logprobs, (std::vector<float>{-0.5F, -0.25F}));
  EXPECT_EQ(set.groups, 1);
}

TEST(Samples, CanBeComparedWithinTheirTurn) {
  LearnSettings s = settings();
  s.group_by = GroupBy::kTurn;
  const SampleSet set = select_samples(
      {episode(0, {turn(0, 1), turn(2, 2)}), episode(0, {turn(2, 3), turn(0, 4)})}, s);
  ASSERT_EQ(set.examples.size(), 4U);
  EXPECT_EQ(set.groups, 2);
  EXPECT_FLOAT_EQ(set.examples[0].advantages[0], -0.5F);  // 1 and 2
  EXPECT_FLOAT_EQ(set.examples[1].advantages[0], 0.5F);
  EXPECT_FLOAT_EQ(set.examples[2].advantages[0], 1);  // 2 and 0
}

TEST(Samples, GroupsWithoutVarianceAreDroppedAndCounted) {
  const SampleSet set = select_samples({episode(0, {turn(1, 1)}), episode(0, {turn(1, 2)}),
                                        episode(1, {turn(0, 3)}), episode(1, {turn(1, 4)})},
                                       settings());
  EXPECT_EQ(set.zero_variance, 1);
  ASSERT_EQ(set.examples.size(), 2U);
  EXPECT_EQ(set.examples[0].tokens[0], 3);
}

TEST(Samples, InfrastructureErrorsAreNeverLearnedFrom) {
  const SampleSet set = select_samples({episode(0, {turn(0, 1, Verdict::kInfraError)}),
                                        episode(0, {turn(1, 2)}), episode(0, {turn(3, 3)})},
                                       settings());
  ASSERT_EQ(set.examples.size(), 2U);
  EXPECT_FLOAT_EQ(set.examples[0].advantages[0], -1);  // mean of 1 and 3, without the lost one
}

TEST(Samples, AGroupOfOneIsTooSmall) {
  const SampleSet set = select_samples(
      {episode(0, {turn(0, 1, Verdict::kInfraError)}), episode(0, {turn(1, 2)})}, settings());
  EXPECT_TRUE(set.examples.empty());
  EXPECT_EQ(set.too_small, 1);
}

TEST(Samples, TruncatedAnswersAreMaskedOrScoredZero) {
  TurnRecord cut = turn(1, 9);
  cut.answer.stop_reason = StopReason::kLength;
  LearnSettings s = settings();
  s.truncated = Truncated::kMask;
  SampleSet set = select_samples({episode(0, {cut}), episode(0, {turn(2, 1)})}, s);
  EXPECT_EQ(set.examples[0].weights, (std::vector<float>{0, 0}));
  EXPECT_EQ(weighted_tokens(set.examples), 2);
  EXPECT_EQ(set.truncated, 1);

  s.truncated = Truncated::kZero;
  set = select_samples({episode(0, {cut}), episode(0, {turn(2, 1)})}, s);
  EXPECT_EQ(set.examples[0].weights, (std::vector<float>{1, 1}));
  EXPECT_FLOAT_EQ(set.examples[0].advantages[0], -1);  // 0 against 2
}

TEST(Minibatches, HoldEveryExampleOnceAndFollowFromTheSeed) {
  std::vector<Example> examples(10);
  for (int i = 0; i < 10; ++i) examples[static_cast<std::size_t>(i)].tokens = {i};
  const auto parts = minibatches(examples, 4, 1);
  ASSERT_EQ(parts.size(), 4U);
  std::vector<std::int32_t> seen;
  for (const auto& part : parts) {
    EXPECT_GE(part.size(), 2U);
    for (const Example& e : part) seen.push_back(e.tokens[0]);
  }
  EXPECT_NE(seen, (std::vector<std::int32_t>{0, 4, 8, 1, 5, 9, 2, 6, 3, 7}));  // not in order
  const auto again = minibatches(examples, 4, 1);
  EXPECT_EQ(again[0][0].tokens, parts[0][0].tokens);
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(seen, (std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(minibatches({Example{}}, 4, 1).size(), 1U);
}

}  // namespace
}  // namespace krl
