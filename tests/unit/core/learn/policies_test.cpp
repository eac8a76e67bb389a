// Policies that are elsewhere, shown by whole runs of the toy world: what is lost, what is handed
// over, what travels with a sample, what is known before the run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "core/experiment/component_check.hpp"
#include "core/plugin/session.hpp"
#include "core/run/run_directory.hpp"
#include "tests/unit/core/learn/toy_world.hpp"

namespace krl::test {
using namespace core;
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::Ge;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::Not;
using ::testing::SizeIs;

const Overrides kSampler = {"policy.sampler={use=\"toy.world\"}"};

Overrides with(Overrides base, const Overrides& more) {
  base.insert(base.end(), more.begin(), more.end());
  return base;
}

// What `kernelrl check` says of the plan; empty if it finds nothing.
std::string checked(const Overrides& overrides) {
  const ToyWorld world;
  const Result<Plan> plan = world.load(overrides);
  if (!plan) return plan.error().message;
  Session session(world.registry());
  const Status runnable = check_runnable(*plan, session.components());
  return runnable ? "" : runnable.error().message;
}

double reward_rise(const RunReport& report) {
  const std::vector<double> reward = report.all("reward/mean");
  return reward.size() < 2 ? 0 : reward.back() - reward.front();
}

// The weights on the disk, for the sampler.
std::vector<std::string> handed_over(const ToyWorld& world) {
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(RunLayout{world.run_folder()}.weights()))
    names.push_back(entry.path().filename());
  return names;
}

TEST(LostRequests, DropTheirTurnsAndAreCounted) {
  for (const char* batching : {"waves", "continuous", "in_turns"}) {
    const RunReport report =
        fresh_run({"policy.lose_every=5", std::string("rollout.batching=") + batching});
    EXPECT_EQ(report.error, "") << batching;
    EXPECT_THAT(report.metrics, SizeIs(8));
    EXPECT_THAT(report.all("sampler/lost"), Each(Gt(2)));
    EXPECT_EQ(report.all("infra_errors"), report.all("sampler/lost"));
    EXPECT_GT(reward_rise(report), 0) << "it learned from the others";
  }
}

TEST(LostRequests, EndTheRunWithTheFirstCauseWhereNothingElseIsLeft) {
  EXPECT_THAT(
      fresh_run({"policy.lose_every=1"}).error,
      HasSubstr(
          "iteration 1: every turn was lost, the first because: policy 'toy.world' (sample): told to lose it (plugin toy 1.0.0, /"));
}

TEST(CutOffAnswers, AreAskedForAgainWhereThePolicyCanGoOn) {
  const RunReport report = fresh_run({"policy.elsewhere=true", "policy.abort_every=3"});
  EXPECT_EQ(report.error, "");
  EXPECT_THAT(report.all("sampler/lost"), Each(0));
}

TEST(CutOffAnswers, AreLostWhereItCannot) {
  const RunReport report = fresh_run({"policy.abort_every=3"});
  EXPECT_EQ(report.error, "");
  EXPECT_THAT(report.all("sampler/lost"), Each(Gt(3)));
}

TEST(Groups, AreOneRequestWhereThatCostsThePromptOnce) {
  for (const char* batching : {"waves", "continuous"}) {
    const RunReport report = fresh_run({"policy.elsewhere=true", "policy.lose_every=4",
                                        std::string("rollout.batching=") + batching});
    EXPECT_EQ(report.error, "");
    EXPECT_THAT(report.all("sampler/lost"), Each(4)) << "one of the four groups, whole";
  }
}

TEST(Groups, HaveTheSameAnswersWhateverTheBatching) {
  const Overrides overrides = {"policy.elsewhere=true", "rollout.turns=2"};
  EXPECT_EQ(fresh_run(overrides).lines(),
            fresh_run(with(overrides, {"rollout.batching=continuous"})).lines());
}

// That every example has its state, its version and its old log-probabilities is for the toy to
// check: it refuses others.
TEST(Elsewhere, APolicyThatPublishesLearns) {
  const RunReport report = fresh_run({"policy.elsewhere=true", "stage.reinforce.iterations=12"});
  EXPECT_EQ(report.error, "");
  EXPECT_GT(reward_rise(report), 0.5);
  EXPECT_THAT(report.all("sampler/version_lag"), Each(0));
  EXPECT_THAT(report.all("actor/loss"), Not(IsEmpty()));
}

TEST(Sampler, SamplesWithTheWeightsThatItWasGiven) {
  ToyWorld world;
  const RunReport report = world.run(with(kSampler, {"stage.reinforce.iterations=12"}));
  EXPECT_EQ(report.error, "");
  EXPECT_THAT(report.all("sampler/version_lag"), Each(0));
  // What a policy of its own samples has the same seeds.
  EXPECT_EQ(report.lines(), fresh_run({"stage.reinforce.iterations=12"}).lines());
  EXPECT_THAT(handed_over(world), SizeIs(1)) << "the newest alone";
}

TEST(Sampler, GoesOnAfterAResume) {
  ToyWorld world;
  world.after_iteration = [&](const IterationMetrics& m) {
    if (m.iteration == 4) world.stop();
  };
  EXPECT_EQ(world.run(kSampler).outcome, Outcome::kInterrupted);
  world.after_iteration = nullptr;
  // A run that was killed has got further than its last checkpoint.
  std::filesystem::create_directory(RunLayout{world.run_folder()}.weights() / "version_000999");
  EXPECT_EQ(world.resume(kSampler).lines(), fresh_run(kSampler).lines());
  EXPECT_THAT(handed_over(world), SizeIs(1)) << "none of the run before";
}

TEST(Sampler, WithWeightsOfAVersionThatNobodyPublishedEndsTheRun) {
  EXPECT_THAT(
      fresh_run({"policy.sampler={use=\"toy.world\", stale=true}"}).error,
      HasSubstr(
          "policy 'toy.world' answered with weights of version 1000, but the newest it was given are version 0"));
}

TEST(Ahead, AnIterationIsSampledWhileTheOneBeforeIsLearnedFrom) {
  for (const Overrides& who : {Overrides{"policy.ahead=true"}, kSampler}) {
    const RunReport report = fresh_run(with(who, {"rollout.ahead=1"}));
    EXPECT_EQ(report.error, "");
    const std::vector<double> lag = report.all("sampler/version_lag");
    ASSERT_THAT(lag, SizeIs(8));
    EXPECT_EQ(lag[0], 0) << "nothing was learned before";
    EXPECT_EQ(lag[1], 4) << "the four steps of the first iteration";
    EXPECT_THAT(lag, Each(AllOf(Ge(0), Le(4)))) << "one iteration behind; some had less to learn";
    EXPECT_GT(reward_rise(report), 0.3);
    EXPECT_EQ(report.lines(), fresh_run(with(who, {"rollout.ahead=1"})).lines());
  }
}

TEST(Reference, GivesTheLogprobsThatTheLossIsHeldTo) {
  const Overrides wants = {"policy.wants_reference=true", "learn.loss.kl=0.1"};
  EXPECT_EQ(fresh_run(with(wants, {"policy.reference={use=\"toy.world\"}"})).error, "");
  EXPECT_THAT(fresh_run(wants).error, HasSubstr("without reference log-probabilities"));
}

TEST(Checkpoints, AreForgottenByThePolicyBeforeTheyGo) {
  ToyWorld world;
  const std::filesystem::path told = world.folder() / "forgotten";
  EXPECT_EQ(world.run({"checkpoint.keep=1", "policy.forgotten=\"" + told.string() + "\""}).error,
            "");
  std::ifstream file(told);
  const std::vector<std::string> folders{std::istream_iterator<std::string>(file), {}};
  ASSERT_THAT(folders, SizeIs(3)) << "of the checkpoints after 2, 4, 6 and 8 iterations";
  EXPECT_THAT(folders[0], HasSubstr("checkpoints/step_000002/policy"));
}

TEST(Deadlines, OfACallReachThePlugin) {
  EXPECT_THAT(fresh_run({"policy.waits=call", "run.call_timeout_s=1"}).error,
              HasSubstr("it took longer than the plan's run.call_timeout_s"));
}

TEST(Deadlines, OfAnAnswerReachThePlugin) {
  EXPECT_THAT(
      fresh_run({"policy.waits=request", "rollout.answer_timeout_s=1"}).error,
      HasSubstr("every turn was lost, the first because: policy 'toy.world' (sample): too late"));
}

TEST(Deadlines, OfAnAnswerAreKeptByTheHostWhereThePluginDoesNot) {
  for (const char* batching : {"waves", "continuous"}) {
    EXPECT_THAT(fresh_run({"policy.waits=long", "rollout.answer_timeout_s=1", "rollout.groups=1",
                           std::string("rollout.batching=") + batching})
                    .error,
                HasSubstr("): the answer came after its deadline (plugin toy "));
  }
}

TEST(Deadlines, OfAnAnswerDoNotCountTheWaitForOthersEvaluations) {
  const RunReport report = fresh_run({"rollout.turns=2", "rollout.answer_timeout_s=1",
                                      "backend.slow_choice=3", "stage.reinforce.iterations=1"});
  EXPECT_EQ(report.error, "");
  EXPECT_THAT(report.all("sampler/lost"), Each(0));
}

TEST(BeforeTheRun, APlanThatThePoliciesCanFollowIsFine) {
  EXPECT_EQ(checked({}), "");
  EXPECT_EQ(checked(kSampler), "");
}

TEST(BeforeTheRun, ALossThatThePolicyCannotLearnByIsRefused) {
  const std::string error = checked({"learn.loss.name=gspo"});
  EXPECT_THAT(error, HasSubstr("plan.toml:7:"));
  EXPECT_THAT(error,
              HasSubstr("stage 'reinforce': policy 'toy.world' (check_loss): the toy cannot learn "
                        "by gspo"));
}

TEST(BeforeTheRun, LogprobsOfTheWrongDistributionAreRefused) {
  const Overrides raw = {"policy.logprob_kind=raw"}, processed = {"policy.logprob_kind=processed"};
  EXPECT_EQ(checked(raw), "");
  EXPECT_THAT(
      checked(with(raw, {"rollout.temperature=0.7"})),
      HasSubstr(
          "policy 'toy.world' records raw log-probabilities, before the temperature is applied, "
          "but rollout.temperature is 0.7"));
  EXPECT_EQ(checked(with(processed, {"rollout.temperature=0.7"})), "");
  EXPECT_THAT(checked(with(processed, {"rollout.top_p=0.9"})),
              HasSubstr("log-probabilities after top_p and top_k"));
  EXPECT_THAT(checked(with(processed, {"rollout.top_k=20"})),
              HasSubstr("log-probabilities after top_p and top_k"));
  EXPECT_EQ(checked({"policy.logprob_kind=unknown", "rollout.temperature=0.7"}), "")
      << "known once it is started";
}

TEST(BeforeTheRun, SamplingAheadTakesAPolicyThatCan) {
  EXPECT_THAT(
      checked({"rollout.ahead=1"}),
      HasSubstr("policy 'toy.world' cannot sample while it learns, which rollout.ahead requires"));
  EXPECT_EQ(checked({"rollout.ahead=1", "policy.ahead=true"}), "");
  EXPECT_EQ(checked(with(kSampler, {"rollout.ahead=1"})), "");
}

TEST(BeforeTheRun, OptionsOfASamplerAreCheckedAsThoseOfAPolicy) {
  EXPECT_THAT(checked({"policy.sampler={use=\"toy.wurld\"}"}),
              HasSubstr("did you mean 'toy.world'?"));
  EXPECT_THAT(checked({"policy.sampler={use=\"toy.world\", lingers=1}"}),
              HasSubstr("'lingers' must be true or false"));
  EXPECT_THAT(checked({"policy.sampler=\"toy.world\""}), HasSubstr("'sampler' must be a table"));
}

}  // namespace
}  // namespace krl::test
