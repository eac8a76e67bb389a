// Components that are unavailable for a while, or for good, shown by whole runs of the toy world:
// what is tried again, what is lost, what ends the run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <thread>

#include "core/base/file_system.hpp"
#include "core/plugin/instance.hpp"
#include "core/run/run_directory.hpp"
#include "tests/unit/core/learn/toy_world.hpp"

namespace krl::test {
using namespace core;
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

double total(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

TEST(UnavailableForAWhile, ChangesNothingWhateverItIs) {
  const std::vector<std::string> undisturbed = fresh_run({"rollout.turns=2"}).lines();
  for (const char* away : {"backend.away=3", "dataset.0.away=3", "reward.0.away=3",
                           "policy={use=\"toy.world\", away=3, away_in=\"sample\"}",
                           "policy={use=\"toy.world\", away=3, away_in=\"tokenize\"}",
                           "policy={use=\"toy.world\", away=3, away_in=\"publish\"}"}) {
    const RunReport report = fresh_run({"rollout.turns=2", away});
    EXPECT_EQ(report.error, "") << away;
    EXPECT_EQ(report.lines(), undisturbed) << away;
    EXPECT_THAT(report.warnings, IsEmpty()) << away;
  }
}

// What was answered before a call failed is kept: the answers depend on their seeds alone.
TEST(UnavailableForAWhile, APolicyIsAskedAgainForWhatIsMissingAlone) {
  for (const char* batching : {"waves", "continuous", "in_turns"}) {
    for (const char* elsewhere : {"false", "true"}) {
      const Overrides overrides = {std::string("rollout.batching=") + batching, "rollout.turns=2",
                                   std::string("policy.elsewhere=") + elsewhere};
      Overrides disturbed = overrides;
      disturbed.emplace_back("policy.away_every=5");  // a group's request has 4 samples
      const RunReport report = fresh_run(disturbed);
      EXPECT_EQ(report.error, "") << batching;
      EXPECT_EQ(report.lines(), fresh_run(overrides).lines()) << batching << elsewhere;
    }
  }
}

TEST(UnavailableForAWhile, WhatCannotBeRepeatedIsNot) {
  EXPECT_THAT(fresh_run({"policy.away=1", "policy.away_in=forward_backward"}).error,
              HasSubstr("policy 'toy.world' (forward_backward): away"));
}

TEST(UnavailableForGood, APolicyLosesTurnsOfACallOnlyWhereItWasNotAnswered) {
  const RunReport report = fresh_run({"policy.away_every=10", "run.retries=0"});
  EXPECT_EQ(report.error, "");
  EXPECT_THAT(report.all("sampler/lost"), Each(6)) << "16 asked, 10 answered";
}

TEST(UnavailableForGood, ARewardLosesTheTurnAndIsNeverScored0) {
  const RunReport report = fresh_run({"reward.0.lost_choice=2"});
  EXPECT_EQ(report.error, "");
  EXPECT_GT(total(report.all("reward/lost")), 8);
  EXPECT_EQ(report.all("infra_errors"), report.all("reward/lost"));
  for (const IterationMetrics& m : report.metrics) {
    // Choice 3 earns 2, choices 0 and 1 nothing; the turns of choice 2 count for nothing.
    const double scored = 16 - m.values.at("reward/lost");
    EXPECT_DOUBLE_EQ(m.values.at("reward/mean"), 2 * m.values.at("kernel/pass_rate")) << scored;
  }
}

TEST(UnavailableForGood, ARewardEndsTheRunWhereNothingElseIsLeft) {
  EXPECT_THAT(fresh_run({"reward.0.lost_choice=-2", "reward.0.when=always"}).error,
              HasSubstr("iteration 1: every turn was lost, the first because: reward 'toy.speed' "
                        "(score): the judge is out (plugin toy 1.0.0, /"));
}

TEST(UnavailableForGood, ADatasetLosesTheItem) {
  const RunReport report = fresh_run({"dataset.0.lost_item=1"});
  EXPECT_EQ(report.error, "");
  EXPECT_THAT(report.metrics, SizeIs(8));
  EXPECT_THAT(
      report.warnings,
      ElementsAre(HasSubstr(
          "dataset 'toy.world': 1 of 4 items could not be read and are skipped, the first because: dataset 'toy.world' (read item 1): the shelf is "
          "locked")));
}

TEST(UnavailableForGood, ADatasetOfWhichNothingIsLeftEndsTheRun) {
  EXPECT_THAT(
      fresh_run({"dataset.0.lost_item=-2"}).error,
      HasSubstr(
          "none of the 4 items of dataset 'toy.world' could be read, the first because: dataset "
          "'toy.world' (read item 0): the shelf is locked"));
}

TEST(RefusedPrompts, LeaveTheirTaskOutOfTheIteration) {
  for (const char* batching : {"waves", "continuous"}) {
    const RunReport report =
        fresh_run({"policy.refuse=toy_1", std::string("rollout.batching=") + batching});
    EXPECT_EQ(report.error, "");
    EXPECT_THAT(report.all("sampler/refused"), ElementsAre(4, 4, 4, 4, 4, 4, 4, 4));
    EXPECT_THAT(report.all("infra_errors"), Each(0));
    EXPECT_THAT(report.all("sampler/lost"), Each(0));
  }
}

// Of the toy's context of 1024 tokens the prompt of toy_1 leaves 24.
TEST(RefusedPrompts, AreThoseThatLeaveNoRoomForAnAnswer) {
  const Overrides long_prompt = {"prompt.templates=\"" KERNELRL_SOURCE_DIR
                                 "/configs/prompts/compact\"",  // has the id
                                 "policy.long_prompt=toy_1", "rollout.min_answer_tokens=25"};
  for (const char* batching : {"waves", "continuous"}) {
    ToyWorld world;
    Overrides overrides = long_prompt;
    overrides.push_back(std::string("rollout.batching=") + batching);
    const RunReport report = world.run(overrides);
    EXPECT_EQ(report.error, "");
    EXPECT_THAT(report.all("sampler/refused"), ElementsAre(4, 4, 4, 4, 4, 4, 4, 4)) << batching;
    EXPECT_THAT(report.all("infra_errors"), Each(0));
    EXPECT_THAT(
        read_file(RunLayout{world.run_folder()}.log()).value_or(""),
        HasSubstr(
            "warning task 'toy_1', turn 1: no answer: its prompt has 1000 tokens; the policy's context of 1024 must have 25 more for the answer (rollout.min_answer_tokens): give the policy a longer context,"));
  }
  Overrides with_room = long_prompt;
  with_room.back() = "rollout.min_answer_tokens=24";
  EXPECT_THAT(fresh_run(with_room).all("sampler/refused"), Each(0));
}

TEST(RefusedPrompts, OfALaterTurnEndTheEpisodeBeforeIt) {
  const RunReport report = fresh_run({"policy.refuse_repairs=true", "rollout.turns=2"});
  EXPECT_EQ(report.error, "");
  EXPECT_THAT(report.all("sampler/refused"), Each(16));
  EXPECT_THAT(report.all("episode/turns"), ElementsAre(1, 1, 1, 1, 1, 1, 1, 1));
  EXPECT_THAT(report.all("groups/lost_future"), Each(0));
}

TEST(RefusedPrompts, EndTheRunWhereNothingElseIsLeft) {
  EXPECT_THAT(fresh_run({"policy.refuse=toy_1", "policy.lose_every=1"}).error,
              HasSubstr("told to lose it"))
      << "what is lost comes before what is refused";
  EXPECT_THAT(fresh_run({"policy.refuse=toy_0", "dataset.0.count=1"}).error,
              HasSubstr("iteration 1: every turn was lost, the first because: policy 'toy.world' "
                        "(sample): it is too long"));
}

// An iteration that loses much is learned from; three in a row are an outage.
TEST(Outage, EndsTheRunWithItsFirstCause) {
  const RunReport report = fresh_run({"policy.lose_every=2", "run.max_infra_share=0.4"});
  EXPECT_THAT(
      report.error,
      HasSubstr(
          "iteration 3: 3 consecutive iterations lost more of their turns to infrastructure errors than run.max_infra_share = 0.4 (0.50, 0.50, 0.50), the first turn because: policy 'toy.world' (sample): told to lose it (plugin toy"));
  EXPECT_THAT(report.metrics, SizeIs(2));
}

TEST(Outage, IsNoneWhereThePlanAllowsAsMuch) {
  const RunReport report = fresh_run({"policy.lose_every=2"});
  EXPECT_EQ(report.error, "");
  EXPECT_THAT(report.metrics, SizeIs(8));
}

TEST(Outage, IsNoneWhereTasksAreRefused) {
  EXPECT_EQ(fresh_run({"policy.refuse=toy_1", "run.max_infra_share=0"}).error, "");
}

const Error kAway{Code::kUnavailable, "away"};
const Retries kPatient{5, std::chrono::hours(1)};  // a test that waits for one fails

TEST(Tries, AreOverAtOnceWhereAnEarlierCallWasGivenUp) {
  const CallScope scope{nullptr, {}, kPatient};
  std::atomic<bool> given_up{true};
  const Status after = Tries(scope, given_up).after(kAway);
  ASSERT_FALSE(after);
  EXPECT_EQ(after.error().message, "away");
}

TEST(Tries, AreAsManyAgainOnceACallSucceeded) {
  const CallScope scope{nullptr, {}, {1, std::chrono::milliseconds(1)}};
  std::atomic<bool> given_up{false};
  Tries tries(scope, given_up);
  EXPECT_TRUE(tries.after(kAway));
  EXPECT_FALSE(tries.after(kAway));
  tries.succeeded();
  EXPECT_TRUE(tries.after(kAway));
}

TEST(Tries, AreNotMadeForOtherErrors) {
  const CallScope scope{nullptr, {}, kPatient};
  std::atomic<bool> given_up{false};
  EXPECT_FALSE(Tries(scope, given_up).after({Code::kInternal, "wrong"}));
  EXPECT_FALSE(given_up);
}

TEST(Tries, AreCutShortWhenTheUserEndsTheRun) {
  std::atomic<bool> stop{false}, given_up{false};
  const CallScope scope{&stop, {}, kPatient};
  std::thread user([&] { stop = true; });
  const Status after = Tries(scope, given_up).after(kAway);
  user.join();
  ASSERT_FALSE(after);
  EXPECT_EQ(after.error().code, Code::kCancelled);
}

}  // namespace
}  // namespace krl::test
