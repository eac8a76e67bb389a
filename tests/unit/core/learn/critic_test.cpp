// Samples by a critic, and whole runs of the toy world with one.
#include "core/learn/critic_examples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/core/learn/toy_world.hpp"

namespace krl::test {
using namespace core;
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Lt;
using ::testing::SizeIs;

const Task kTask{"t", "", "", 0, ""};

TurnRecord turn(double score, std::uint32_t stop = KRL_STOP_END) {
  TurnRecord t;
  t.answer.prompt_tokens = {0};
  t.answer.tokens = {1, 2};
  t.answer.logprobs = {-1, -1};
  t.answer.stop_reason = stop;
  t.evaluation.verdict = Verdict::kOk;
  t.score.total = score;
  return t;
}

TurnRecord lost_turn() {
  TurnRecord t = turn(9);
  t.evaluation.verdict = Verdict::kInfraError;
  return t;
}

LearnSettings settings() {
  LearnSettings s;
  s.returns.discount = 0.5;
  s.advantage = AdvantageKind::kGae;
  s.gae = {1.0, 1.0, false};
  return s;
}

// Gives 0.25 for the first token of every answer, and 0.5 for the second.
struct FixedCritic {
  ToyWorld world;
  CallScope scope;
  Policy policy;

  FixedCritic()
      : policy(*Instance::create(*world.registry().find(Kind::kPolicy, "toy.world"),
                                 {{"critic", true}, {"fixed_values", true}}, scope)) {}

  TrainingSet training_set(const std::vector<Episode>& episodes, const LearnSettings& s,
                           Metrics& metrics) const {
    auto set = select_examples_by_critic(episodes, s, policy, metrics);
    if (!set) ADD_FAILURE() << set.error().message;
    return set ? *std::move(set) : TrainingSet();
  }
};

TEST(Critic, AnEpisodeIsOneSequenceOfTheTokensOfItsTurns) {
  Metrics metrics;
  const TrainingSet set =
      FixedCritic().training_set({{&kTask, {}, 0, {turn(1), turn(4)}}}, settings(), metrics);
  ASSERT_THAT(set.examples, SizeIs(2));
  EXPECT_THAT(set.examples[0].values, ElementsAre(0.25F, 0.5F));
  // Returns: 1 + 0.5 · 4 for both tokens of the first turn, 4 for those of the second.
  EXPECT_THAT(set.examples[0].returns, ElementsAre(FloatEq(3), FloatEq(3)));
  EXPECT_THAT(set.examples[0].advantages, ElementsAre(FloatEq(2.75F), FloatEq(2.5F)));
  EXPECT_THAT(set.examples[1].returns, ElementsAre(FloatEq(4), FloatEq(4)));
  EXPECT_THAT(set.examples[1].advantages, ElementsAre(FloatEq(3.75F), FloatEq(3.5F)));
  EXPECT_DOUBLE_EQ(metrics.at("critic/value_mean"), 0.375);
  // Squares about the means: 1.0625 of the errors 2.75, 2.5, 3.75, 3.5; 1 of the returns 3, 3,
  // 4, 4.
  EXPECT_NEAR(metrics.at("critic/explained_variance"), 1 - 1.0625, 1e-6);
}

TEST(Critic, ATurnWhoseFutureWasLostIsLeftOut) {
  Metrics metrics;
  const TrainingSet set = FixedCritic().training_set(
      {{&kTask, {}, 0, {turn(1), lost_turn()}}, {&kTask, {}, 1, {turn(4)}}}, settings(), metrics);
  ASSERT_THAT(set.examples, SizeIs(1));
  EXPECT_THAT(set.examples[0].returns, Each(FloatEq(4)));
  EXPECT_EQ(set.lost_future, 1);
}

TEST(Critic, AnEpisodeThatStoppedEarlyGoesOnScoringAsItDid) {
  Metrics metrics;
  Episode stopped{&kTask, {}, 0, {turn(1), turn(4)}, {}, false, 2};
  const TrainingSet set = FixedCritic().training_set({stopped}, settings(), metrics);
  EXPECT_THAT(set.examples[0].returns, Each(FloatEq(1 + 0.5F * 4 * 1.75F)));
  EXPECT_THAT(set.examples[1].returns, Each(FloatEq(4 * 1.75F)));
}

TEST(Critic, ATruncatedTurnIsMaskedAndWhatItEarnedGoesToTheTurnBefore) {
  Metrics metrics;
  const TrainingSet set = FixedCritic().training_set(
      {{&kTask, {}, 0, {turn(1), turn(2, KRL_STOP_LENGTH), turn(4)}}}, settings(), metrics);
  ASSERT_THAT(set.examples, SizeIs(2)) << "the masked one is no sample";
  EXPECT_EQ(set.truncated, 1);
  // 1 + 0.5 · (2 + 0.5 · 4); within the masked turn nothing is discounted.
  EXPECT_THAT(set.examples[0].returns, Each(FloatEq(3)));
  EXPECT_THAT(set.examples[1].returns, Each(FloatEq(4)));
}

TEST(Critic, WhitensOverTheTokensThatAreLearnedFrom) {
  LearnSettings s = settings();
  s.gae.whiten = true;
  Metrics metrics;
  const TrainingSet set = FixedCritic().training_set({{&kTask, {}, 0, {turn(1)}},
                                                      {&kTask, {}, 1, {turn(3, KRL_STOP_LENGTH)}},
                                                      {&kTask, {}, 2, {turn(2)}}},
                                                     s, metrics);
  double sum = 0, squares = 0;
  ASSERT_THAT(set.examples, SizeIs(2));
  for (const Example& example : set.examples) {
    for (const float a : example.advantages) sum += a, squares += a * a;
  }
  EXPECT_NEAR(sum, 0, 1e-6);
  EXPECT_NEAR(squares / 3, 1, 1e-5);
  EXPECT_THAT(set.examples[0].returns, Each(FloatEq(1))) << "the critic learns what was earned";
}

TEST(Critic, OfNoTurnsMakesNoSamples) {
  Metrics metrics;
  const TrainingSet set =
      FixedCritic().training_set({{&kTask, {}, 0, {lost_turn()}}}, settings(), metrics);
  EXPECT_THAT(set.examples, IsEmpty());
  EXPECT_THAT(metrics, IsEmpty());
}

const Overrides kByCritic = {"learn.advantage=gae", "policy.critic=true", "rollout.turns=2",
                             "stage.reinforce.iterations=12"};

TEST(Critic, LearnsWhatToExpectWhileThePolicyLearnsToEarnIt) {
  ToyWorld world;
  const RunReport report = world.run(kByCritic);
  ASSERT_EQ(report.error, "");
  const std::vector<double> rewards = report.all("reward/mean");
  ASSERT_THAT(rewards, SizeIs(12));
  EXPECT_GT(rewards.back() - rewards.front(), 0.5);
  EXPECT_GT(report.all("critic/value_mean").back(), 1);
  EXPECT_LT(report.all("critic/value_loss").back(), report.all("critic/value_loss").front());
  EXPECT_THAT(report.all("groups/dropped"), IsEmpty()) << "there are no groups";
}

TEST(Critic, MayLearnAloneAtFirst) {
  Overrides sets = kByCritic;
  sets.push_back("learn.critic.warmup=3");
  const std::vector<double> lr = ToyWorld().run(sets).all("actor/lr");
  ASSERT_THAT(lr, SizeIs(12));
  EXPECT_THAT(std::vector<double>(lr.begin(), lr.begin() + 3), Each(0.0));
  EXPECT_THAT(std::vector<double>(lr.begin() + 3, lr.end()), Each(Gt(0.0)));
}

TEST(Critic, GoesOnAfterAResumeAsIfNothingHadHappened) {
  ToyWorld world;
  world.after_iteration = [&](const IterationMetrics& m) {
    if (m.iteration == 5) world.stop();
  };
  EXPECT_THAT(world.run(kByCritic).metrics, SizeIs(5));
  world.after_iteration = nullptr;
  EXPECT_EQ(world.resume(kByCritic).lines(), ToyWorld().run(kByCritic).lines());
}

TEST(Critic, ThatIsMissingIsAnErrorOfThePlan) {
  EXPECT_THAT(
      ToyWorld().run({"learn.advantage=gae"}).error,
      HasSubstr("policy 'toy.world' has no critic, which learn.advantage = \"gae\" requires"));
}

TEST(Critic, ThatIsMissingEndsARunBeforeItsFirstStage) {
  const RunReport report = ToyWorld().run({}, R"(
[[stage]]
name = "first"
kind = "rl"
iterations = 1

[[stage]]
name = "second"
kind = "rl"
iterations = 1
[stage.learn]
advantage = "gae"
)");
  EXPECT_THAT(report.error, HasSubstr("policy 'toy.world' has no critic"));
  EXPECT_THAT(report.metrics, IsEmpty());
}

TEST(Critic, KeysThatOneKindOfAdvantageDoesNotUseAreErrors) {
  const ToyWorld world;
  for (const char* wrong :
       {"learn.group_by=turn", "learn.drop_zero_variance=false", "learn.returns.kind=max"}) {
    const auto plan = world.load({"learn.advantage=gae", wrong});
    ASSERT_FALSE(plan) << wrong;
    EXPECT_THAT(plan.error().message, HasSubstr("advantage")) << wrong;
  }
  for (const char* wrong : {"learn.gae.lambda=0.5", "learn.critic.weight=1"})
    EXPECT_FALSE(world.load({wrong})) << wrong;
}

}  // namespace
}  // namespace krl::test
