// What a run promises, shown by whole runs of the toy world (tests/unit/core/toy).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <future>
#include <numeric>
#include <set>
#include <sstream>

#include "core/base/file_system.hpp"
#include "core/experiment/component_check.hpp"
#include "core/experiment/policy_check.hpp"
#include "core/learn/declared_metrics.hpp"
#include "core/learn/policies.hpp"
#include "core/plan/content_check.hpp"
#include "core/plugin/session.hpp"
#include "core/run/ledger.hpp"
#include "core/run/run_directory.hpp"
#include "core/stage/stage_data.hpp"
#include "core/stage/stage_setup.hpp"
#include "tests/unit/core/learn/toy_world.hpp"
#include "tests/wait_while.hpp"

namespace krl::test {
using namespace core;
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::Truly;

double mean(std::vector<double>::const_iterator begin, std::vector<double>::const_iterator end) {
  return std::accumulate(begin, end, 0.0) / static_cast<double>(end - begin);
}

// How much a metric rose from its first two iterations to its last two.
double rise(const RunReport& report, const std::string& metric) {
  const std::vector<double> values = report.all(metric);
  if (values.size() < 4) ADD_FAILURE() << metric << " was measured " << values.size() << " times";
  return values.size() < 4
             ? 0
             : mean(values.end() - 2, values.end()) - mean(values.begin(), values.begin() + 2);
}

std::vector<LedgerRecord> ledger_of(const ToyWorld& world) {
  std::vector<LedgerRecord> records;
  const Status read =
      read_ledger(RunLayout{world.run_folder()}.ledger(), [&](const LedgerRecord& record) {
        records.push_back(record);
        return true;
      });
  EXPECT_TRUE(read) << read.error().message;
  return records;
}

TEST(Run, WithTheSameSeedWritesTheSameMetrics) {
  const RunReport one = fresh_run(), two = fresh_run();
  EXPECT_EQ(one.error, "");
  EXPECT_THAT(one.metrics, SizeIs(8));
  EXPECT_EQ(one.lines(), two.lines());
}

// A plan can name whatever a run writes, but for hold-outs and what stages of another kind write.
TEST(Run, WritesOnlyMetricsThatAreDeclared) {
  for (const Overrides& overrides :
       {Overrides{"rollout.turns=2"}, Overrides{"learn.advantage=gae", "policy.critic=true"}}) {
    const RunReport report = fresh_run(overrides);
    ASSERT_EQ(report.error, "");
    for (const IterationMetrics& iteration : report.metrics) {
      for (const auto& [name, value] : iteration.values) {
        const bool is_known =
            resolve_metric(name, declared_metrics(), {"toy.speed"}, 2).has_value();
        EXPECT_TRUE(is_known || name.starts_with("holdout/") || name == "sft/loss" ||
                    name == "kernel/regressions_holdout")
            << name;
      }
    }
  }
}

TEST(Run, WritesNoTensorBoardFilesIfThePlanSwitchesThemOff) {
  ToyWorld world;
  EXPECT_EQ(world.run({"log.tensorboard=false"}).error, "");
  EXPECT_FALSE(std::filesystem::exists(RunLayout{world.run_folder()}.tensorboard()));
}

TEST(Run, WithAnotherSeedWritesOthers) {
  EXPECT_NE(fresh_run().lines(), fresh_run({"run.seed=8"}).lines());
}

TEST(Run, WithOtherThreadsWritesTheSame) {
  EXPECT_EQ(fresh_run({"run.threads=1"}).lines(), fresh_run({"run.threads=3"}).lines());
}

TEST(Run, LearnsWhatItIsPaidFor) {
  const RunReport report = fresh_run({"stage.reinforce.iterations=12"});
  EXPECT_GT(rise(report, "reward/mean"), 0.5);
  EXPECT_GT(rise(report, "kernel/pass_rate"), 0.2);
  EXPECT_GT(report.all("kernel/speedup_capped").back(), 1.8);
}

TEST(Run, LearnsWhatItIsPaidForByEveryObjective) {
  for (const char* objective :
       {"advantage=\"max_at_k\"", "advantage=\"entropic\"", "advantage=\"quantile\"",
        "unlikeliness=0.25", "loss.clip_cov=0.01", "loss.kl_cov=0.01"}) {
    const RunReport report = fresh_run({std::string("learn.") + objective});
    ASSERT_EQ(report.error, "") << objective;
    const std::vector<double> rewards = report.all("reward/mean");
    EXPECT_GT(rewards.back(), rewards.front()) << objective;
  }
}

TEST(Run, LogsWhatItTellsItsObserver) {
  ToyWorld world;
  const RunReport report = world.resume();
  EXPECT_THAT(report.warnings, ElementsAre(HasSubstr("there was no run in")));
  const std::string log = *read_file(RunLayout{world.run_folder()}.log());
  EXPECT_THAT(log, HasSubstr("warning there was no run in"));
  EXPECT_THAT(log, HasSubstr("info    stage 'reinforce' (1 of 1) after 0 of its iterations\n"));
  EXPECT_THAT(log, HasSubstr("info    finished\n"));
}

// The fastest choice of the toy is wrong at a shape that no training shows.
TEST(Run, KeepsAsTheBestOnlyWhatStandsASecondEvaluation) {
  ToyWorld world;
  double refused = 0;
  world.after_iteration = [&](const IterationMetrics& m) {
    refused += m.values.at("best/refused");
  };
  EXPECT_EQ(world.run({"backend.overfitted_choice=3"}).error, "");
  EXPECT_GT(refused, 0);
  const RunLayout layout{world.run_folder()};
  EXPECT_THAT(read_file(layout.log()).value(),
              HasSubstr("is not accepted as the best one: wrong_result"));
  int kept = 0;
  for (const auto& entry : std::filesystem::directory_iterator(layout.best())) {
    if (entry.path().extension() != ".cu") continue;
    ++kept;
    EXPECT_THAT(read_file(entry.path()).value(), Not(HasSubstr("3"))) << entry.path();
  }
  EXPECT_GT(kept, 0) << "the second fastest are right";
}

constexpr const char* kSanitizer = "[backend.sanitizer]\nuse = \"toy.world\"\n";

// The second toy finds a data race in the fastest choice.
TEST(Run, WhatPassesMustStandTheSanitizerToo) {
  const RunReport report = fresh_run({"backend.sanitizer.racy_choice=3"}, kSanitizer);
  EXPECT_EQ(report.error, "");
  EXPECT_THAT(report.all("kernel/unsafe_rate"), Contains(Gt(0)));
  EXPECT_THAT(report.all("kernel/unsanitized_rate"), Each(0));
  EXPECT_THAT(report.all("kernel/speedup_capped"), Each(Le(1))) << "choice 2 is the fastest left";
}

TEST(Run, WhatTheSanitizerCannotExecuteIsNotHeldAgainstAKernel) {
  const RunReport plain = fresh_run();
  const RunReport report = fresh_run({"backend.sanitizer.foreign_choice=3"}, kSanitizer);
  EXPECT_EQ(report.error, "");
  EXPECT_THAT(report.all("kernel/unsafe_rate"), Each(0));
  EXPECT_THAT(report.all("kernel/unsanitized_rate"), Contains(Gt(0)));
  EXPECT_EQ(report.all("reward/mean"), plain.all("reward/mean"));
}

TEST(Run, ASanitizerThatFailsLosesTheTurn) {
  const RunReport report = fresh_run(
      {"backend.sanitizer.broken_choice=3", "run.retries=0", "run.max_infra_share=1"}, kSanitizer);
  EXPECT_EQ(report.error, "");
  EXPECT_THAT(report.all("infra_errors"), Contains(Gt(0)));
}

constexpr const char* kBefore = "[[backend.before]]\nuse = \"toy.world\"\nslow_choice = 1\n";

// The first toy finds a data race in the fastest choice, and the second one never sees it.
TEST(Run, ABackendBeforeItRefusesWhatIsWrong) {
  ToyWorld world;
  double spent = 0, spent_before = 0, saved = 0;
  const auto add = [](double& sum, const Metrics& values, const char* name) {
    if (const auto value = values.find(name); value != values.end()) sum += value->second;
  };
  world.after_iteration = [&](const IterationMetrics& m) {
    add(spent_before, m.values, "cascade/toy.world/ms");
    add(spent, m.values, "cascade/toy.world_2/ms");
    add(saved, m.values, "cascade/saved_ms");
  };
  const RunReport report =
      world.run({"backend.before.0.racy_choice=3", "backend.broken_choice=3"}, kBefore);
  EXPECT_EQ(report.error, "");
  EXPECT_THAT(report.all("infra_errors"), Each(0)) << "the backend fails whenever it sees it";
  EXPECT_THAT(report.all("kernel/speedup_capped"), Each(Le(1))) << "choice 2 is the fastest left";
  EXPECT_GT(spent_before, 1000) << "one choice takes so long there";
  EXPECT_GT(spent, 0);
  EXPECT_GT(saved, 0);
  EXPECT_LT(spent, 1000);
  for (const LedgerRecord& record : ledger_of(world)) {
    if (record.evaluation.verdict != Verdict::kRuntimeFault) continue;
    EXPECT_TRUE(record.evaluation.value("cascade/toy.world/ms"));
    EXPECT_FALSE(record.evaluation.value("cascade/toy.world_2/ms"));
  }
}

// Compilers differ, and so do the architectures that they compile for.
TEST(Run, WhatABackendBeforeItCannotCompileIsNotHeldAgainstAKernel) {
  const RunReport report =
      fresh_run({"backend.before.0.foreign_choice=3", "backend.before.0.slow_choice=-1"}, kBefore);
  EXPECT_EQ(report.error, "");
  EXPECT_EQ(report.lines(), fresh_run().lines());
}

TEST(Run, RefusesABackendBeforeItThatDoesNotExist) {
  const auto plan =
      ToyWorld().load({}, "[[backend.before]]\nuse = \"toy.word\"\nracy_choice = 9\n");
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().message, HasSubstr("unknown backend 'toy.word'"));
  const auto racy = ToyWorld().load({"backend.before.0.racy_choice=9"}, kBefore);
  ASSERT_FALSE(racy);
  EXPECT_THAT(racy.error().message, HasSubstr("'racy_choice' must be between -1 and 3"));
  const auto table = ToyWorld().load({}, "[backend.before]\nuse = \"toy.world\"\n");
  ASSERT_FALSE(table);
  EXPECT_THAT(table.error().message, HasSubstr("'before' must be a list of tables, not a table"));
}

TEST(Run, WithoutALearningRateLearnsNothing) {
  const RunReport report = fresh_run({"stage.reinforce.iterations=12", "learn.optimizer.lr=0"});
  EXPECT_LT(std::abs(rise(report, "reward/mean")), 0.15);
  EXPECT_THAT(report.all("actor/grad_norm"), Each(Gt(0))) << "it had something to learn from";
}

TEST(Run, LeavesOutTheFiguresOfLearningWhereThereWasNoStep) {
  const RunReport report = fresh_run({"reward.0.weight=0"});
  EXPECT_EQ(report.error, "");
  EXPECT_THAT(report.all("groups/zero_variance"), ElementsAre(4, 4, 4, 4, 4, 4, 4, 4));
  std::set<std::string> of_learning;
  for (const IterationMetrics& m : report.metrics) {
    for (const auto& [name, value] : m.values) {
      if (name.starts_with("actor/") || name.starts_with("critic/")) of_learning.insert(name);
    }
  }
  EXPECT_THAT(of_learning, ElementsAre("actor/not_finite"))
      << "0 would say that something was learned";
  EXPECT_THAT(fresh_run().all("actor/loss"), Not(IsEmpty())) << "a run that learns has them";
}

TEST(Run, LearnsToRepairInItsSecondTurn) {
  const RunReport report = fresh_run({"rollout.turns=2", "stage.reinforce.iterations=12"});
  EXPECT_THAT(report.all("episode/turns"), Each(2));
  EXPECT_THAT(report.all("turn_1/pass_rate"), SizeIs(12));
  EXPECT_GT(rise(report, "turn_2/pass_rate"), 0.2);
}

// The toy's answers depend on their seeds alone, and it answers a stream in an order of its own.
TEST(Run, WithContinuousBatchingHasTheSameEpisodesAsWithWaves) {
  const Overrides waves = {"rollout.turns=3", "rollout.stop_when=\"speedup >= 2\""};
  Overrides continuous = waves;
  continuous.emplace_back("rollout.batching=continuous");
  const RunReport report = fresh_run(continuous);
  EXPECT_EQ(report.error, "");
  EXPECT_THAT(report.all("turn_3/pass_rate"), Not(IsEmpty())) << "episodes that came back twice";
  EXPECT_EQ(report.lines(), fresh_run(waves).lines());
}

TEST(Run, InTurnsEvaluatesNothingWhileThePolicySamples) {
  const Overrides turns = {"rollout.turns=2", "rollout.batching=in_turns", "policy.lingers=true",
                           "backend.wants_turns=true"};
  const RunReport report = fresh_run(turns);
  EXPECT_EQ(report.error, "");
  EXPECT_THAT(report.all("infra_errors"), Each(0));
  EXPECT_EQ(report.lines(), fresh_run({"rollout.turns=2"}).lines());
}

TEST(Run, WithContinuousBatchingFailsAsThePolicyDoes) {
  ToyWorld world;
  const Overrides overrides = {"rollout.turns=2", "rollout.batching=continuous",
                               "policy.fail_after=100"};
  const RunReport failed = world.run(overrides);
  EXPECT_THAT(failed.error, HasSubstr("policy 'toy.world' (sample_stream): told to fail"));
  EXPECT_THAT(failed.metrics, SizeIs(4)) << "32 answers an iteration";
  EXPECT_THAT(failed.all("sampler/lost"), ElementsAre(0, 0, 0, Gt(0)))
      << "it continued with the rest";
}

TEST(Run, WithContinuousBatchingIsCancelledInTheMiddleOfItsEpisodes) {
  ToyWorld world;
  world.after_iteration = [&](const IterationMetrics& m) {
    if (m.iteration == 2) world.cancel();
  };
  EXPECT_THAT(world.run({"rollout.batching=continuous"}).error, HasSubstr("cancelled"));
}

TEST(Run, EndsAnEpisodeWhereStopWhenHolds) {
  const RunReport report = fresh_run({"rollout.turns=2", "rollout.stop_when=\"passed\""});
  const std::vector<double> turns = report.all("episode/turns");
  const std::vector<double> passed = report.all("turn_1/pass_rate");
  ASSERT_EQ(turns.size(), passed.size());
  for (std::size_t i = 0; i < turns.size(); ++i)
    EXPECT_DOUBLE_EQ(turns[i], 2 - passed[i]) << "those that passed have one turn";
}

TEST(Run, AnEmptyConditionTakesBackThatOfALayerBelow) {
  const Overrides stops = {"rollout.turns=2", "rollout.stop_when=\"passed\""};
  Overrides goes_on = stops;
  goes_on.emplace_back("rollout.stop_when=\"\"");
  EXPECT_EQ(fresh_run(goes_on).lines(), fresh_run({"rollout.turns=2"}).lines());
}

TEST(Run, CountsTurnsWhoseFutureWasLost) {
  const RunReport report = fresh_run({"rollout.turns=2", "backend.broken_choice=3"});
  const std::vector<double> errors = report.all("infra_errors");
  const std::vector<double> lost = report.all("groups/lost_future");
  ASSERT_THAT(lost, SizeIs(8));
  EXPECT_GT(lost.front(), 0);
  EXPECT_LT(lost.front(), errors.front()) << "some were lost in their first turn";
}

TEST(Run, PlaysMoreGroupsWhereSomeHaveNothingToTeach) {
  const Overrides small = {"rollout.group_size=2", "rollout.groups=8"};
  Overrides refilled = small;
  refilled.emplace_back("rollout.refill_tries=4");
  const RunReport without = fresh_run(small), with = fresh_run(refilled);
  EXPECT_EQ(with.error, "");
  EXPECT_THAT(without.all("groups/refilled"), Each(0));
  EXPECT_GT(with.all("groups/refilled").front(), 0);
  EXPECT_GT(without.all("groups/dropped").front(), 0);
  for (const IterationMetrics& m : with.metrics) {
    const double played = 8 + m.values.at("groups/refilled");
    const double taught = played - m.values.at("groups/dropped");
    EXPECT_LE(taught, 8);
    EXPECT_TRUE(taught == 8 || played == 8 + 4 * 8) << taught << " of " << played;
  }
  EXPECT_EQ(fresh_run(refilled).lines(), with.lines());
}

TEST(Run, ChoosesTasksThatCanStillTeachAndGoesOnSo) {
  const Overrides learnable = {"rollout.choice=learnable", "rollout.groups=2", "dataset.0.count=6"};
  ToyWorld world;
  world.after_iteration = [&](const IterationMetrics& m) {
    if (m.iteration == 5) world.stop();
  };
  world.run(learnable);
  world.after_iteration = nullptr;
  const RunReport whole = fresh_run(learnable);
  EXPECT_EQ(whole.error, "");
  EXPECT_EQ(world.resume(learnable).lines(), whole.lines());
  EXPECT_NE(whole.lines(), fresh_run({"rollout.groups=2", "dataset.0.count=6"}).lines());
}

TEST(Run, TasksOutsideTheBoundsOfPassRatesAreDrawnLessOften) {
  Overrides learnable = {"rollout.choice=learnable", "rollout.groups=2", "dataset.0.count=6"};
  const RunReport all = fresh_run(learnable);
  Overrides wide = learnable, narrow = learnable;
  wide.insert(wide.end(), {"rollout.pass_low=0", "rollout.pass_high=1"});
  narrow.insert(narrow.end(), {"rollout.pass_low=0.3", "rollout.pass_high=0.6"});
  EXPECT_EQ(fresh_run(wide).lines(), all.lines());
  const RunReport within = fresh_run(narrow);
  EXPECT_EQ(within.error, "");
  EXPECT_NE(within.lines(), all.lines());
  EXPECT_THAT(fresh_run({"rollout.pass_low=0.3"}).error, HasSubstr("choice"));
  learnable.insert(learnable.end(), {"rollout.pass_low=0.7", "rollout.pass_high=0.6"});
  EXPECT_THAT(fresh_run(learnable).error, HasSubstr("'pass_low' is above 'pass_high'"));
}

TEST(Run, RefusesToRefillWhereThereAreNoGroups) {
  EXPECT_THAT(
      fresh_run({"learn.advantage=gae", "policy.critic=true", "rollout.refill_tries=1"}).error,
      HasSubstr("error: stage 'reinforce' has no groups to refill"));
}

TEST(Run, RefusesToLearnFromGreedyAnswers) {
  EXPECT_THAT(fresh_run({"rollout.temperature=0.0"}).error,
              HasSubstr("error: stage 'reinforce' cannot learn at temperature 0"));
}

TEST(Run, IsNotedWhereItSamplesFromFewerTokensThanItLearnsOver) {
  ToyWorld world;
  const auto notes = [&](const Overrides& overrides) {
    return policy_notes(*world.load(overrides), world.registry());
  };
  EXPECT_THAT(notes({}), IsEmpty());
  for (const char* filter : {"rollout.top_p=0.9", "rollout.top_k=20"})
    EXPECT_THAT(notes({filter}), ElementsAre(HasSubstr("stage 'reinforce' samples from fewer")));
}

// Without a budget a thought as long as the answer may be leaves no kernel.
TEST(Run, EndsThoughtsAtTheirBudget) {
  const Overrides thinks = {"policy.thinks=100", "rollout.max_tokens=50"};
  EXPECT_THAT(fresh_run(thinks).all("kernel/compile_rate"), Each(0));
  for (const char* batching : {"waves", "continuous"}) {
    Overrides overrides = thinks;
    overrides.insert(overrides.end(),
                     {"rollout.thinking_tokens=8", std::string("rollout.batching=") + batching});
    const RunReport report = fresh_run(overrides);
    EXPECT_EQ(report.error, "");
    EXPECT_THAT(report.all("kernel/compile_rate"), Each(Gt(0)));
    EXPECT_THAT(report.all("response_length/mean"), Each(8 + 1 + 1)) << "thought, end, answer";
    EXPECT_THAT(report.all("response_length/clip_ratio"), Each(0));
    EXPECT_THAT(report.all("sampler/thoughts_ended"), Each(1));
  }
}

TEST(Run, LeavesThoughtsWithinTheirBudgetAlone) {
  const RunReport report = fresh_run({"policy.thinks=5", "rollout.thinking_tokens=8"});
  EXPECT_THAT(report.all("response_length/mean"), Each(6));
  EXPECT_THAT(report.all("sampler/thoughts_ended"), Each(0));
}

TEST(Run, RefusesABudgetThatCannotBeKept) {
  EXPECT_THAT(fresh_run({"rollout.thinking_tokens=8"}).error,
              AllOf(HasSubstr("--set:2:25: error: policy 'toy.world' cannot end a thought"),
                    HasSubstr("it cannot continue a partial answer")));
  EXPECT_THAT(
      fresh_run({"policy.thinks=5", "rollout.max_tokens=8", "rollout.thinking_tokens=8"}).error,
      HasSubstr("a thought of 8 tokens leaves no room for an answer in rollout.max_tokens = 8"));
}

// Of the toy's context of 1024 tokens the prompt of a repair leaves 24.
TEST(Run, PlaysNoTurnThatHasNoRoomForAnAnswer) {
  const auto turns = [](const std::string& tokens) {
    return fresh_run({"rollout.turns=2", "policy.long_prompt=\"choice \"", tokens})
        .all("episode/turns");
  };
  EXPECT_THAT(turns("rollout.min_answer_tokens=25"), Each(1));
  EXPECT_THAT(turns("rollout.min_answer_tokens=24"), Each(2));
  EXPECT_THAT(turns("rollout.max_tokens=24"), Each(2)) << "no answer is longer";
}

TEST(Run, EndsAStageWhereUntilHolds) {
  const RunReport report =
      fresh_run({"stage.reinforce.iterations=50",
                 "stage.reinforce.until=\"pass_rate > 0.8 and iteration >= 3\""});
  const std::vector<double> passed = report.all("kernel/pass_rate");
  ASSERT_GE(passed.size(), 3u);
  ASSERT_LT(passed.size(), 50u);
  EXPECT_GT(passed.back(), 0.8);
  for (std::size_t i = 2; i + 1 < passed.size(); ++i) EXPECT_LE(passed[i], 0.8);
}

TEST(Run, EndsAStageWhereTheMeansOverAWindowSatisfyUntil) {
  const Overrides overrides = {"stage.reinforce.iterations=50",
                               "stage.reinforce.until=\"pass_rate > 0.7\"",
                               "stage.reinforce.until_window=3"};
  const RunReport report = fresh_run(overrides);
  const std::vector<double> passed = report.all("kernel/pass_rate");
  ASSERT_GE(passed.size(), 3u);
  ASSERT_LT(passed.size(), 50u);
  for (auto end = passed.begin() + 3; end < passed.end(); ++end) EXPECT_LE(mean(end - 3, end), 0.7);
  EXPECT_GT(mean(passed.end() - 3, passed.end()), 0.7);

  ToyWorld world;
  world.after_iteration = [&](const IterationMetrics& m) {
    if (m.iteration == static_cast<int>(passed.size()) - 1) world.stop();
  };
  world.run(overrides);
  EXPECT_EQ(world.resume(overrides).lines(), report.lines()) << "a checkpoint knows the window";
}

TEST(Run, GoesThroughStagesWithSettingsOfTheirOwn) {
  const RunReport report = fresh_run({}, R"(
[[stage]]
name = "first"
kind = "rl"
iterations = 50
until = "pass_rate > 0.7"

[[stage]]
name = "second"
kind = "rl"
iterations = 3
[stage.rollout]
turns = 2
)");
  ASSERT_EQ(report.error, "");
  ASSERT_LT(report.metrics.size(), 53u) << "the first ended early";
  const std::size_t first = report.metrics.size() - 3;
  for (std::size_t i = 0; i < report.metrics.size(); ++i) {
    EXPECT_EQ(report.metrics[i].iteration, static_cast<int>(i) + 1);
    EXPECT_EQ(report.metrics[i].stage, i < first ? "first" : "second");
    EXPECT_EQ(report.metrics[i].values.at("episode/turns"), i < first ? 1 : 2);
  }
}

constexpr const char* kWarmUp = R"(
[[dataset]]
use = "toy.world"
role = "warmup"
count = 0
pairs = 64
choice = 2

[[stage]]
name = "warm-up"
kind = "sft"
epochs = 4
log_every = 4
optimizer = { lr = 0.5, warmup = 0 }

[[stage]]
name = "reinforce"
kind = "rl"
iterations = 1
)";

TEST(Run, WarmsUpOnPairs) {
  const RunReport report = fresh_run({"policy.needs_corpus=true"}, kWarmUp);
  ASSERT_EQ(report.error, "");
  ASSERT_THAT(report.metrics, SizeIs(5));
  const std::vector<double> loss = report.all("sft/loss");
  ASSERT_THAT(loss, SizeIs(4));
  EXPECT_LT(loss.back(), loss.front() / 2);
  EXPECT_GT(report.all("kernel/pass_rate").back(), 0.8)
      << "the pairs teach choice 2, which is right";
}

TEST(Run, WarmsUpOnPairsWithoutADefinition) {
  std::string bare = kWarmUp;
  bare.insert(bare.find("choice = 2"), "bare = true\n");
  const RunReport report = fresh_run({"policy.needs_corpus=true"}, bare);
  ASSERT_EQ(report.error, "");
  const std::vector<double> loss = report.all("sft/loss");
  ASSERT_THAT(loss, SizeIs(4));
  EXPECT_LT(loss.back(), loss.front() / 2);
}

TEST(Run, ThatNeedsTextsToBeginWithSaysSo) {
  EXPECT_THAT(fresh_run({"policy.needs_corpus=true"}).error,
              HasSubstr("add a [[dataset]] with role = \"warmup\""));
}

TEST(Run, OpensATierWhenTheOneBelowIsLearned) {
  const RunReport report = fresh_run({"stage.reinforce.iterations=20"}, R"(
[curriculum]
first_tier   = 0
compile_rate = 0.8
pass_rate    = 0.7
window       = 2
)");
  const std::vector<double> open = report.all("curriculum/open_tier");
  ASSERT_THAT(open, SizeIs(20));
  EXPECT_EQ(open.front(), 0);
  EXPECT_EQ(open.back(), 1);
  for (std::size_t i = 0; i < open.size(); ++i)
    EXPECT_EQ(report.metrics[i].values.contains("tier_1/pass_rate"), open[i] == 1) << i;
}

TEST(Run, NeverScoresWhatItCouldNotEvaluate) {
  ToyWorld world;
  const RunReport report = world.run({"backend.broken_choice=3"});
  EXPECT_EQ(report.error, "");
  EXPECT_THAT(report.all("infra_errors"), SizeIs(8));
  EXPECT_GT(report.all("infra_errors").front(), 0);
  EXPECT_THAT(report.all("kernel/fast_2"), Each(0)) << "choice 3, twice as fast, never counts";
  double lost = 0;
  for (const LedgerRecord& record : ledger_of(world)) {
    EXPECT_EQ(record.evaluation.infra_error(), record.key.empty()) << "never found again";
    lost += record.evaluation.infra_error() ? 1 : 0;
  }
  const std::vector<double> counted = report.all("infra_errors");
  EXPECT_EQ(lost, std::accumulate(counted.begin(), counted.end(), 0.0));
}

TEST(Run, EndsWithTheFirstCauseWhereNothingCouldBeEvaluated) {
  const RunReport report = fresh_run({"backend.broken=true"});
  EXPECT_THAT(report.error,
              HasSubstr("iteration 1: every turn was lost, the first because: backend "
                        "'toy.world' (evaluate): the toy is broken (plugin toy 1.0.0, /"));
  EXPECT_THAT(report.metrics, IsEmpty());
}

TEST(Run, ABackendGetsNoMoreThreadsThanAPlanMayHave) {
  ToyWorld world;
  ASSERT_EQ(world.run({"backend.concurrency=5000"}).error, "");
  EXPECT_THAT(
      read_file(RunLayout{world.run_folder()}.log()).value(),
      HasSubstr(
          "backend 'toy.world' asks for 5000 concurrent evaluations and gets 1024, the maximum that run.threads allows"));

  const auto plan = world.load({"backend.concurrency=5000"});
  ASSERT_TRUE(plan) << plan.error().message;
  for (const std::uint32_t threads : {1024u, 3u}) {
    const CallScope scope{.threads = threads};
    Components components(world.registry(), scope);
    const auto setup = set_up(plan->stage(0), components);
    ASSERT_TRUE(setup) << setup.error().message;
    EXPECT_EQ(setup->judge().info().concurrency, threads);
  }
}

// The lines that the toy backend wrote of itself.
std::vector<std::string> seen_by(const std::filesystem::path& file) {
  std::istringstream text(read_file(file).value_or(""));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

// The rollout that runs ahead shares the backend with hold-outs and second evaluations.
TEST(Run, ABackendGetsNoMoreEvaluationsAtATimeThanItTakes) {
  for (const auto& [limit, most] :
       {std::pair{"backend.concurrency=2", "2"}, {"run.threads=1", "1"}}) {
    ToyWorld world;
    const auto file = world.folder() / "seen";
    const RunReport report =
        world.run({"backend.seen=\"" + file.string() + "\"", "backend.concurrency=8", limit,
                   "policy.ahead=true", "rollout.ahead=1", "rollout.groups=4",
                   "rollout.group_size=8", "eval.every=1", "stage.reinforce.iterations=4"});
    EXPECT_EQ(report.error, "");
    EXPECT_EQ(seen_by(file).back(), std::string(most) + " at a time");
  }
}

TEST(Run, WhatTheCheckStartsIsTheRuns) {
  ToyWorld world;
  const auto file = world.folder() / "seen";
  const auto plan = world.load({"backend.seen=\"" + file.string() + "\""});
  ASSERT_TRUE(plan) << plan.error().message;
  Session session(world.registry());
  ASSERT_TRUE(check_components(*plan, session.components()));
  ASSERT_TRUE(set_up(plan->stage(0), session.components()));
  EXPECT_THAT(seen_by(file), ElementsAre("started"));
}

// A caller that goes away ends its own call, and nobody else's.
TEST(Run, AnEvaluationHasAScopeOfItsOwn) {
  ToyWorld world;
  const auto plan = world.load({"backend.broken=true"});
  ASSERT_TRUE(plan) << plan.error().message;
  Session session(world.registry());
  const auto setup = set_up(plan->stage(0), session.components());
  ASSERT_TRUE(setup) << setup.error().message;
  const auto code_of_evaluation = [&](const CallScope* scope) {
    EvaluateOptions options;
    options.scope = scope;
    const auto evaluation =
        setup->backends.backend->evaluate(setup->data.tasks[0], "choice 2", options);
    return evaluation ? Code::kOk : evaluation.error().code;
  };
  const std::atomic<bool> gone{true};
  const CallScope own{&gone, {}, {5, std::chrono::hours(1)}};
  EXPECT_EQ(code_of_evaluation(&own), Code::kCancelled);
  EXPECT_EQ(code_of_evaluation(nullptr), Code::kUnavailable);
  EXPECT_EQ(code_of_evaluation(&own), Code::kCancelled) << "others' failure is not its own";
}

// An evaluation that waits for others ends by its own scope, not by when they end.
TEST(Run, AnEvaluationWaitsForOthersAsLongAsItsScopeAllows) {
  ToyWorld world;
  const auto file = world.folder() / "seen";
  const auto plan = world.load(
      {"backend.concurrency=1", "backend.held=true", "backend.seen=\"" + file.string() + "\""});
  ASSERT_TRUE(plan) << plan.error().message;
  Session session(world.registry());
  const auto setup = set_up(plan->stage(0), session.components());
  ASSERT_TRUE(setup) << setup.error().message;
  const auto code_of_evaluation = [&](const CallScope& scope) {
    EvaluateOptions options;
    options.scope = &scope;
    const auto evaluation =
        setup->backends.backend->evaluate(setup->data.tasks[0], "choice 2", options);
    return evaluation ? Code::kOk : evaluation.error().code;
  };
  std::atomic<bool> over{false};
  const std::atomic<bool> gone{true};
  auto other = std::async(std::launch::async, [&] { return code_of_evaluation({&over}); });
  wait_while([&] { return seen_by(file).size() < 2; });  // started, and one evaluation
  EXPECT_EQ(code_of_evaluation({&gone}), Code::kCancelled);
  EXPECT_EQ(code_of_evaluation({nullptr, std::chrono::seconds(1)}), Code::kDeadlineExceeded);
  over = true;
  EXPECT_EQ(other.get(), Code::kCancelled);
}

TEST(Run, NamesTheRewardThatGivesNoNumber) {
  const RunReport report = fresh_run({}, "[[reward]]\nuse = \"toy.nan\"\n");
  EXPECT_THAT(report.error, HasSubstr("reward 'toy.nan'"));
  EXPECT_THAT(report.error, HasSubstr("toy_"));
}

TEST(Run, RefusesARewardWhoseSignalIsMissing) {
  ToyWorld world;
  const auto plan = world.load({"reward.0.use=toy.registers"});
  ASSERT_TRUE(plan);
  Session session(world.registry());
  const auto checked = check_components(*plan, session.components());
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message,
              HasSubstr("--set:2:14: error: reward 'toy.registers' needs registers"));
}

TEST(Run, FailsOnATaskThatTheBackendRefuses) {
  const RunReport report = fresh_run({"backend.refuse=toy_1"});
  EXPECT_THAT(report.error, HasSubstr("toy.toml:1:1: task 'toy_1' is refused"));
  EXPECT_THAT(report.metrics, IsEmpty());
}

TEST(Run, SaysOnceWhatTheBackendSaysOfEveryTask) {
  EXPECT_EQ(
      fresh_run({"backend.refuse=\"*\"", "dataset.0.count=7"}).error,
      "backend 'toy.world' (prepare): the toy takes no tasks (tasks toy_0, toy_1, toy_2, toy_3, "
      "toy_4 and 2 more)");
}

TEST(Run, WarnsOfAStepThatIsNotFinite) {
  const RunReport report = fresh_run({"policy.nan_every=2", "learn.epochs=2", "learn.minibatches=1",
                                      "stage.reinforce.iterations=3"});
  EXPECT_EQ(report.error, "");
  EXPECT_THAT(report.all("actor/not_finite"), Each(1));
  EXPECT_THAT(report.all("actor/grad_norm"), Each(Gt(0))) << "the mean of the others";
  ASSERT_THAT(report.warnings, SizeIs(3));
  EXPECT_EQ(report.warnings[0],
            "iteration 1: policy 'toy.world' reported grad_norm = nan in 1 of 2 optimiser steps");
}

TEST(Run, EndsAfterThreeStepsInARowThatAreNotFinite) {
  const RunReport report = fresh_run({"policy.nan_every=1", "learn.minibatches=2"});
  EXPECT_THAT(report.error,
              HasSubstr("policy 'toy.world' reported grad_norm = nan in 3 consecutive "
                        "optimiser steps"));
  EXPECT_THAT(report.metrics, SizeIs(1)) << "two steps each";
}

TEST(Run, RefusesAScoreThatItsWeightMakesTooLarge) {
  EXPECT_THAT(fresh_run({"reward.0.weight=1e300"}).error, HasSubstr("reward term 'toy.speed': "));
}

TEST(Run, MeasuresEveryHoldoutUnderANameOfItsOwn) {
  const RunReport report = fresh_run({}, R"(
[[dataset]]
use = "toy.world"
role = "holdout"
count = 1

[[dataset]]
use = "toy.world"
role = "holdout"
count = 2
)");
  EXPECT_EQ(report.error, "");
  EXPECT_THAT(report.all("holdout/toy.world/pass_rate"), SizeIs(2)) << "first and last iteration";
  EXPECT_THAT(report.all("holdout/toy.world_2/pass_rate"), SizeIs(2));
}

constexpr const char* kHoldout = R"(
[[dataset]]
use = "toy.world"
role = "holdout"
count = 4
)";

TEST(Run, MeasuresHoldoutsBeforeItLearnsAnything) {
  const RunReport learned = fresh_run({"learn.optimizer.lr=0.9"}, kHoldout);
  const RunReport control = fresh_run({"learn.optimizer.lr=0"}, kHoldout);
  const std::string metric = "holdout/toy.world/pass_rate";
  ASSERT_THAT(learned.all(metric), SizeIs(2)) << learned.error;
  EXPECT_EQ(learned.all(metric)[0], control.all(metric)[0]);
  EXPECT_NE(learned.all(metric)[1], control.all(metric)[1]);
}

TEST(Run, MeasuresHoldoutsAsOftenAsThePlanSays) {
  const RunReport report = fresh_run({"eval.every=3"}, kHoldout);
  EXPECT_EQ(report.error, "");
  std::vector<int> iterations;
  for (const IterationMetrics& m : report.metrics)
    if (m.values.contains("holdout/toy.world/pass_rate")) iterations.push_back(m.iteration);
  EXPECT_THAT(iterations, ElementsAre(1, 4, 7, 8)) << "the last after its learning";
}

TEST(Run, MeasuresHoldoutsWithAsManyEpisodesAsThePlanSays) {
  // Of the four tasks with one episode each a whole number passes.
  const auto is_of_four = [](double rate) { return rate * 4 == std::floor(rate * 4); };
  const std::string metric = "holdout/toy.world/pass_rate";
  const RunReport as_trained = fresh_run({}, kHoldout);
  const RunReport one_each = fresh_run({"eval.samples=1"}, kHoldout);
  ASSERT_THAT(one_each.all(metric), SizeIs(2)) << one_each.error;
  EXPECT_THAT(one_each.all(metric), Each(Truly(is_of_four)));
  EXPECT_THAT(as_trained.all(metric), Contains(Not(Truly(is_of_four))));
}

}  // namespace
}  // namespace krl::test
