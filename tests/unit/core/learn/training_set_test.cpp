#include "core/learn/training_set.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace krl::core {
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

TurnRecord cut_off(TurnRecord turn) {
  turn.answer.stop_reason = KRL_STOP_LENGTH;
  return turn;
}

Episode episode(std::size_t group, std::vector<TurnRecord> turns) {
  return {&kTask, {1, group}, 0, std::move(turns)};
}

LearnSettings settings() {
  LearnSettings s;
  s.returns = {ReturnKind::kSum, 0.5};
  s.advantage = AdvantageKind::kDrGrpo;
  s.group_by = GroupBy::kTask;
  return s;
}

TEST(TrainingSet, EachTurnIsAnExampleWithTheAdvantageOfItsReturn) {
  const TrainingSet set =
      select_examples({episode(0, {turn(0, 1), turn(2, 2)}), episode(0, {turn(3, 3)})}, settings());
  ASSERT_EQ(set.examples.size(), 3U);
  // Returns 0 + 0.5 · 2 = 1, 2 and 3; their mean is 2.
  EXPECT_EQ(set.examples[0].advantages, (std::vector<float>{-1, -1}));
  EXPECT_EQ(set.examples[1].advantages, (std::vector<float>{0, 0}));
  EXPECT_EQ(set.examples[2].advantages, (std::vector<float>{1, 1}));
  EXPECT_EQ(set.examples[2].tokens, (std::vector<std::int32_t>{3, 3}));
  EXPECT_EQ(set.examples[2].logprobs, (std::vector<float>{-0.5F, -0.25F}));
  EXPECT_EQ(set.groups, 1);
}

TEST(TrainingSet, CanBeComparedWithinTheirTurn) {
  LearnSettings s = settings();
  s.group_by = GroupBy::kTurn;
  const TrainingSet set = select_examples(
      {episode(0, {turn(0, 1), turn(2, 2)}), episode(0, {turn(2, 3), turn(0, 4)})}, s);
  ASSERT_EQ(set.examples.size(), 4U);
  EXPECT_EQ(set.groups, 2);
  EXPECT_FLOAT_EQ(set.examples[0].advantages[0], -0.5F);  // 1 and 2
  EXPECT_FLOAT_EQ(set.examples[1].advantages[0], 0.5F);
  EXPECT_FLOAT_EQ(set.examples[2].advantages[0], 1);  // 2 and 0
}

TEST(TrainingSet, GroupsWithoutVarianceAreDroppedAndCounted) {
  const TrainingSet set = select_examples({episode(0, {turn(1, 1)}), episode(0, {turn(1, 2)}),
                                           episode(1, {turn(0, 3)}), episode(1, {turn(1, 4)})},
                                          settings());
  EXPECT_EQ(set.zero_variance, 1);
  ASSERT_EQ(set.examples.size(), 2U);
  EXPECT_EQ(set.examples[0].tokens[0], 3);
}

TEST(TrainingSet, AGroupThatDiffersByLessThanTheNoiseTeachesNothing) {
  LearnSettings s = settings();
  s.advantage = AdvantageKind::kGrpo;
  s.min_spread = 0.02;
  const std::vector<Episode> noise = {episode(0, {turn(1.3, 1)}), episode(0, {turn(1.31, 2)}),
                                      episode(1, {turn(0, 3)}), episode(1, {turn(0.05, 4)})};
  const TrainingSet set = select_examples(noise, s);
  EXPECT_EQ(set.below_noise, 1);
  EXPECT_EQ(set.zero_variance, 0);
  ASSERT_EQ(set.examples.size(), 2U) << "one turn that differs is enough, however many do not";
  EXPECT_EQ(set.examples[0].tokens[0], 3);

  s.drop_zero_variance = false;
  EXPECT_EQ(select_examples(noise, s).examples[1].advantages, (std::vector<float>{0, 0}));
  s.min_spread = 0;
  EXPECT_NEAR(select_examples(noise, s).examples[1].advantages[0], std::sqrt(0.5), 1e-3)
      << "as large as any other";
}

TEST(TrainingSet, InfrastructureErrorsAreNeverLearnedFrom) {
  const TrainingSet set = select_examples({episode(0, {turn(0, 1, Verdict::kInfraError)}),
                                           episode(0, {turn(1, 2)}), episode(0, {turn(3, 3)})},
                                          settings());
  ASSERT_EQ(set.examples.size(), 2U);
  EXPECT_FLOAT_EQ(set.examples[0].advantages[0], -1);  // mean of 1 and 3, without the lost one
}

TEST(TrainingSet, ATurnWhoseFutureWasLostHasNoReturn) {
  const std::vector<Episode> episodes = {
      episode(0, {turn(0.3, 1), turn(0, 2, Verdict::kInfraError)}), episode(0, {turn(1, 3)}),
      episode(0, {turn(3, 4)})};
  TrainingSet set = select_examples(episodes, settings());
  EXPECT_EQ(set.lost_future, 1);
  ASSERT_EQ(set.examples.size(), 2U);
  EXPECT_FLOAT_EQ(set.examples[0].advantages[0], -1) << "the group's mean is without it, too";

  LearnSettings s = settings();
  s.returns.discount = 0;
  set = select_examples(episodes, s);
  EXPECT_EQ(set.lost_future, 0) << "nothing later would have counted";
  EXPECT_EQ(set.examples.size(), 3U);
}

TEST(TrainingSet, AnEpisodeThatStoppedEarlyKeepsScoringAsItDid) {
  Episode stopped = episode(0, {turn(2, 1)});
  stopped.unplayed = 1;
  const TrainingSet set =
      select_examples({stopped, episode(0, {turn(1, 2), turn(1, 3)})}, settings());
  // Returns 2 + 0.5 · 2 = 3, 1.5 and 1.
  EXPECT_FLOAT_EQ(set.examples[0].advantages[0], 3 - 5.5F / 3);
}

TEST(TrainingSet, AGroupOfOneEpisodeIsTooSmall) {
  const TrainingSet set = select_examples(
      {episode(0, {turn(0, 1, Verdict::kInfraError)}), episode(0, {turn(1, 2), turn(2, 3)})},
      settings());
  EXPECT_TRUE(set.examples.empty());
  EXPECT_EQ(set.too_small, 1);
}

TEST(TrainingSet, AMaskedAnswerIsNoMemberOfItsGroup) {
  const TrainingSet set = select_examples(
      {episode(0, {cut_off(turn(0, 9))}), episode(0, {turn(2, 1)}), episode(0, {turn(3, 2)}),
       episode(1, {cut_off(turn(0, 9))}), episode(1, {turn(1, 3)}), episode(1, {turn(1, 4)})},
      settings());
  ASSERT_EQ(set.examples.size(), 2U) << "nobody computes what nothing is learned from";
  EXPECT_FLOAT_EQ(set.examples[0].advantages[0], -0.5F);
  EXPECT_EQ(set.zero_variance, 1) << "equal answers beside one that was cut off teach nothing";
  EXPECT_EQ(set.truncated, 2);
}

TEST(TrainingSet, TellsAdvantagesByTheirCause) {
  const TrainingSet set = select_examples({episode(0, {turn(0, 1, Verdict::kWrongResult)}),
                                           episode(0, {turn(2, 2)}), episode(0, {turn(4, 3)})},
                                          settings());
  // Advantages -2, 0 and 2: right ones have 1 on average.
  EXPECT_DOUBLE_EQ(set.by_correctness, 2 + 1 + 1);
  EXPECT_DOUBLE_EQ(set.by_speed, 1 + 1);
}

TEST(TrainingSet, TokensThatThePolicyDidNotChooseTeachNothing) {
  TurnRecord ended = turn(2, 3);
  ended.answer.given_end = 1;
  const TrainingSet set =
      select_examples({episode(0, {ended}), episode(0, {turn(0, 4)})}, settings());
  ASSERT_EQ(set.examples.size(), 2u);
  EXPECT_EQ(set.examples[0].weights, (std::vector<float>{0, 1}));
  EXPECT_EQ(set.examples[1].weights, (std::vector<float>{1, 1}));
}

TEST(TrainingSet, ATruncatedAnswerThatIsScoredIsNeverBetterThanAWrongOne) {
  LearnSettings s = settings();
  s.truncated = Truncated::kZero;
  TrainingSet set =
      select_examples({episode(0, {cut_off(turn(1, 9))}), episode(0, {turn(2, 1)})}, s);
  EXPECT_EQ(set.examples[0].weights, (std::vector<float>{1, 1}));
  EXPECT_FLOAT_EQ(set.examples[0].advantages[0], -1);  // 0 against 2
  set = select_examples({episode(0, {cut_off(turn(-1, 9))}), episode(0, {turn(-1, 1)})}, s);
  EXPECT_EQ(set.zero_variance, 1) << "wrong costs 1 here, and so does wrong and cut off";
}

Example example(const std::vector<float>& weights) {
  Example e;
  e.tokens.resize(weights.size());
  e.weights = weights;
  return e;
}

TEST(TrainingSet, AMeanOverSequencesCountsThoseThatAreLearnedFrom) {
  const Example both = example({1, 1}), none = example({0, 0}), second = example({0, 1});
  EXPECT_EQ(weighted_tokens({&both, &none, &second}), 3);
  EXPECT_EQ(weighted_examples({&both, &none, &second}), 2);
  Example unweighted = example({1, 1});
  unweighted.weights.clear();
  EXPECT_EQ(weighted_examples({&unweighted}), 1);
}

TEST(TrainingSet, SomeGroupsHaveNothingToTeach) {
  LearnSettings s = settings();
  s.group_by = GroupBy::kTurn;
  s.returns.discount = 0;
  const std::vector<Episode> episodes = {
      episode(3, {turn(1, 1), turn(1, 2)}),           episode(3, {turn(1, 1), turn(2, 2)}),
      episode(4, {turn(1, 1), turn(2, 2)}),           episode(4, {turn(1, 1), turn(2, 2)}),
      episode(5, {turn(1, 1, Verdict::kInfraError)}), episode(5, {turn(2, 1)})};
  EXPECT_EQ(groups_that_differ(episodes, s), (std::set<GroupId>{{1, 3}}));
}

TEST(Minibatches, AreFewerWhereFewTurnsAreLeftAsExamples) {
  const auto steps = [](std::size_t samples) { return steps_of_epoch(samples, 128, 4); };
  EXPECT_EQ(steps(128), 4);
  EXPECT_EQ(steps(100), 3);
  EXPECT_EQ(steps(10), 1);
  EXPECT_EQ(steps(0), 1);
  EXPECT_EQ(steps(200), 4) << "never more";
}

TEST(Minibatches, ReferToEveryExampleOnceAndFollowFromTheSeed) {
  std::vector<Example> examples(10);
  for (int i = 0; i < 10; ++i) examples[static_cast<std::size_t>(i)].tokens = {i};
  const auto parts = minibatches(examples, 4, 1);
  ASSERT_EQ(parts.size(), 4U);
  std::vector<std::int32_t> seen;
  for (const auto& part : parts) {
    EXPECT_GE(part.size(), 2U);
    for (const Example* e : part) {
      EXPECT_EQ(e, &examples[static_cast<std::size_t>(e->tokens[0])]) << "a copy";
      seen.push_back(e->tokens[0]);
    }
  }
  EXPECT_NE(seen, (std::vector<std::int32_t>{0, 4, 8, 1, 5, 9, 2, 6, 3, 7}));  // not in order
  const auto again = minibatches(examples, 4, 1);
  EXPECT_EQ(again, parts);
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(seen, (std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(minibatches({Example{}}, 4, 1).size(), 1U);
}

}  // namespace
}  // namespace krl::core
