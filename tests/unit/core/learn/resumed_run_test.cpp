// Runs that are interrupted, resumed, made longer or started from another's checkpoint, in the toy
// world (tests/unit/core/toy).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "core/base/file_system.hpp"
#include "core/run/checkpoints.hpp"
#include "core/run/run_directory.hpp"
#include "tests/unit/core/learn/toy_world.hpp"

namespace krl::test {
using namespace core;
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(ResumedRun, ContinuesWhereItWasStopped) {
  ToyWorld world;
  world.after_iteration = [&](const IterationMetrics& m) {
    if (m.iteration % 3 == 0) world.stop();
  };
  const RunReport first = world.run();
  EXPECT_EQ(first.outcome, Outcome::kInterrupted);
  EXPECT_THAT(first.metrics, SizeIs(3));
  EXPECT_THAT(world.resume().metrics, SizeIs(6));
  EXPECT_EQ(world.resume().lines(), fresh_run().lines());
}

std::string status_of(const ToyWorld& world) {
  return *read_file(RunLayout{world.run_folder()}.status());
}

TEST(ResumedRun, ThatIsOverHasNothingLeftToDo) {
  ToyWorld world;
  const std::vector<std::string> lines = world.run().lines();
  const RunReport again = world.resume();
  EXPECT_EQ(again.outcome, Outcome::kNothingToDo);
  EXPECT_EQ(again.lines(), lines);
  EXPECT_THAT(status_of(world), HasSubstr(R"("stage": "reinforce")"));
  EXPECT_THAT(status_of(world), HasSubstr("nothing left to do"));
}

// As if it had been that long from the beginning, but for what a stage's last iteration measures.
TEST(ResumedRun, ThatIsOverCanBeMadeLonger) {
  const Overrides curriculum = {"curriculum.pass_rate=0.5", "curriculum.window=2"};
  const auto iterations = [&](int n) {
    Overrides all = curriculum;
    all.push_back("stage.reinforce.iterations=" + std::to_string(n));
    return all;
  };
  ToyWorld world;
  EXPECT_THAT(world.run(iterations(4)).metrics, SizeIs(4));
  world.after_iteration = [&](const IterationMetrics& m) {
    if (m.iteration == 6) world.stop();
  };
  EXPECT_THAT(world.resume(iterations(8)).metrics, SizeIs(6)) << "interrupted on the way";
  world.after_iteration = nullptr;
  const RunReport longer = world.resume(iterations(8));
  const RunReport whole = fresh_run(iterations(8));
  EXPECT_EQ(longer.outcome, Outcome::kFinished) << longer.error;
  EXPECT_EQ(longer.all("reward/mean"), whole.all("reward/mean"));
  EXPECT_EQ(longer.all("curriculum/open_tier"), whole.all("curriculum/open_tier"));
}

TEST(ResumedRun, ContinuesWithAnotherGoal) {
  ToyWorld world;
  const RunReport first = world.run({"stage.reinforce.until=\"iteration >= 2\""});
  EXPECT_THAT(first.metrics, SizeIs(2));
  EXPECT_EQ(world.resume({"stage.reinforce.until=\"iteration >= 2\""}).outcome,
            Outcome::kNothingToDo);
  EXPECT_THAT(world.resume({"stage.reinforce.until=\"iteration >= 5\""}).metrics, SizeIs(5));
}

TEST(ResumedRun, ThatIsOverSaysWhatMayChange) {
  ToyWorld world;
  world.run();
  const RunReport refused = world.resume({"run.seed=8"});
  EXPECT_THAT(refused.error, HasSubstr("run.seed: was 7, is 8"));
  EXPECT_THAT(refused.error, HasSubstr("the run is finished: it continues if iterations"));
  const std::string log = *read_file(RunLayout{world.run_folder()}.log());
  EXPECT_THAT(log, HasSubstr("run.seed: was 7, is 8"));
}

TEST(ResumedRun, ThatDidNotGetBeyondItsStartIsReplaced) {
  ToyWorld world;
  EXPECT_THAT(world.run({"backend.refuse=toy_1"}).error, HasSubstr("is refused"));
  const RunReport next = world.run();
  EXPECT_EQ(next.error, "");
  EXPECT_EQ(next.lines(), fresh_run().lines());
}

TEST(ResumedRun, ThatIsCancelledIsInterruptedAndDidNotFail) {
  ToyWorld world;
  world.after_iteration = [&](const IterationMetrics& m) {
    if (m.iteration == 5) world.cancel();
  };
  EXPECT_THAT(world.run().error, HasSubstr("cancelled"));
  const std::string status = *read_file(RunLayout{world.run_folder()}.status());
  EXPECT_THAT(status, HasSubstr(R"("state": "interrupted")"));
  world.after_iteration = nullptr;
  EXPECT_EQ(world.resume().lines(), fresh_run().lines());
}

TEST(ResumedRun, ContinuesFromTheCheckpointBeforeItFailed) {
  ToyWorld world;
  const std::filesystem::path failing = world.folder() / "failing";
  const Overrides overrides = {"policy.fail_while=\"" + failing.string() + "\""};
  world.after_iteration = [&](const IterationMetrics& m) {
    if (m.iteration == 5) std::ofstream(failing) << "now";
  };
  const RunReport failed = world.run(overrides);
  EXPECT_THAT(failed.error, HasSubstr("policy 'toy.world' (sample): told to fail"));
  EXPECT_THAT(failed.metrics, SizeIs(5)) << "what was done is safe";

  EXPECT_THAT(world.resume(overrides).error, HasSubstr("told to fail"));
  std::filesystem::remove(failing);
  world.after_iteration = nullptr;
  const RunReport resumed = world.resume(overrides);
  EXPECT_EQ(resumed.error, "");
  EXPECT_EQ(resumed.lines(), fresh_run().lines());
}

// Choice 2 passes in training and is refused by the second evaluation, unless a faster kernel is
// known: one of the iterations that are lost must not be.
TEST(ResumedRun, ForgetsTheBestKernelsOfIterationsThatAreLost) {
  const Overrides overrides = {"backend.overfitted_choice=2", "checkpoint.every=100",
                               "rollout.groups=1", "rollout.group_size=2"};
  const char* const archive = "[archive]\nfresh = 1\n";
  for (int seed = 1; seed <= 5; ++seed) {
    Overrides all = overrides;
    all.push_back("run.seed=" + std::to_string(seed));
    ToyWorld world;
    world.after_iteration = [&](const IterationMetrics& m) {
      if (m.iteration == 7) world.cancel();
    };
    EXPECT_THAT(world.run(all, archive).error, HasSubstr("cancelled"));
    world.after_iteration = nullptr;
    EXPECT_EQ(world.resume(all, archive).lines(), fresh_run(all, archive).lines()) << seed;
  }
}

// A checkpoint's weights are those that the next iteration is sampled with.
TEST(ResumedRun, KeepsTheCheckpointWhereAMetricWasHighest) {
  ToyWorld world;
  const RunReport report =
      world.run({"checkpoint.every=1", "checkpoint.keep=1", "checkpoint.best=\"-pass_rate\""});
  ASSERT_EQ(report.error, "");
  const std::vector<double> rates = report.all("kernel/pass_rate");
  const auto worst = std::min_element(rates.begin() + 1, rates.end()) - rates.begin();
  const auto kept = read_checkpoint(RunLayout{world.run_folder()}.checkpoints() / "best");
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_EQ(kept->iteration, worst);
}

TEST(ResumedRun, RatesItsLastCheckpointByTheHoldOutsMeasuredAfterIt) {
  ToyWorld world;
  const RunReport report = world.run({"checkpoint.best=holdout/toy.world/pass_rate"},
                                     "[[dataset]]\nuse = \"toy.world\"\nrole = \"holdout\"\n");
  ASSERT_EQ(report.error, "");
  const auto kept = read_checkpoint(RunLayout{world.run_folder()}.checkpoints() / "best");
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_EQ(kept->iteration, 8);
}

TEST(ResumedRun, NeverRatesACheckpointByTheFiguresOfTwo) {
  ToyWorld world;
  const RunReport report =
      world.run({"checkpoint.every=1", "checkpoint.best=holdout/toy.world/pass_rate + pass_rate"},
                "[[dataset]]\nuse = \"toy.world\"\nrole = \"holdout\"\n");
  ASSERT_EQ(report.error, "");
  EXPECT_FALSE(read_checkpoint(RunLayout{world.run_folder()}.checkpoints() / "best"))
      << "the hold-outs were measured before the first iteration and after the last";
}

TEST(ResumedRun, IsNotBegunTwiceInOneFolder) {
  ToyWorld world;
  EXPECT_EQ(world.run().error, "");
  EXPECT_THAT(world.run().error, HasSubstr("already contains a run"));
}

// The keys that a run may change on its way are those that do not touch its past.
TEST(ResumedRun, AcceptsAPlanThatChangedOnlyItsFuture) {
  ToyWorld world;
  world.after_iteration = [&](const IterationMetrics& m) {
    if (m.iteration == 4) world.stop();
  };
  EXPECT_THAT(world.run().metrics, SizeIs(4));
  for (const char* refused :
       {"learn.advantage=rloo", "run.seed=9", "rollout.turns=2", "policy.needs_corpus=true",
        "reward.0.weight=2", "dataset.0.count=2"}) {
    const RunReport report = world.resume({refused});
    EXPECT_THAT(report.error, HasSubstr("the plan differs from the one this run was started with"))
        << refused;
    EXPECT_THAT(report.error, HasSubstr(std::string(refused).substr(0, 5))) << refused;
    EXPECT_THAT(report.metrics, SizeIs(4)) << "a refusal changes nothing";
  }
  world.after_iteration = nullptr;
  const RunReport report = world.resume({"stage.reinforce.iterations=10", "checkpoint.every=1",
                                         "log.samples_every=0", "run.threads=2"});
  EXPECT_EQ(report.error, "");
  EXPECT_EQ(report.lines(), fresh_run({"stage.reinforce.iterations=10"}).lines());
}

TEST(ResumedRun, AcceptsAnotherLearningRateAndOtherGroups) {
  ToyWorld world;
  world.after_iteration = [&](const IterationMetrics& m) {
    if (m.iteration == 4) world.stop();
  };
  EXPECT_THAT(world.run().metrics, SizeIs(4));
  world.after_iteration = nullptr;
  const RunReport report =
      world.resume({"learn.optimizer.lr=0.25", "rollout.groups=2", "rollout.temperature=0.8"});
  EXPECT_EQ(report.error, "");
  std::vector<double> rates = report.all("actor/lr");  // none where no group differs any more
  ASSERT_GT(rates.size(), 4u);
  rates.resize(5);
  EXPECT_THAT(rates, ElementsAre(0.5, 0.5, 0.5, 0.5, 0.25));
  EXPECT_THAT(read_file(RunLayout{world.run_folder()}.log()).value(),
              HasSubstr("continues with a changed plan: learn.optimizer.lr: was 0.5, is 0.25"));
}

// A fork begins at its own first iteration, with what the other run had learned by then.
TEST(ResumedRun, BeginsWithWhatAnotherOneHasLearned) {
  ToyWorld world;
  const RunReport first = world.run();
  const std::string checkpoint =
      (RunLayout{world.run_folder()}.checkpoints() / "step_000008").string();
  const Overrides fork = {"run.name=fork", "run.from=\"" + checkpoint + "\"",
                          "learn.optimizer.lr=0"};
  world.after_iteration = [&](const IterationMetrics& m) {
    if (m.iteration == 1) world.cancel();  // before it has a checkpoint of its own
  };
  EXPECT_THAT(world.run(fork).metrics, SizeIs(1));
  world.after_iteration = nullptr;
  const RunReport report = world.resume(fork);
  EXPECT_EQ(report.error, "");
  EXPECT_EQ(report.metrics.front().iteration, 1);
  EXPECT_GT(report.all("reward/mean").front(), first.all("reward/mean").front() + 0.3);
}

TEST(ResumedRun, SaysWhereItCannotBeginFrom) {
  ToyWorld world;
  EXPECT_THAT(world.run({"run.from=\"/nowhere/step_000001\""}).error,
              AllOf(HasSubstr("cannot start from there: there is no checkpoint in '/nowhere/"),
                    HasSubstr("--set:2:10: error:")));
  auto others = Checkpoints::open(world.folder() / "others", {});
  ASSERT_TRUE(
      others->save(3, R"({"policy": "libtorch"})", [](const fs::path&) { return Status(); }));
  const std::string theirs = (world.folder() / "others/step_000003").string();
  EXPECT_THAT(world.run({"run.from=\"" + theirs + "\""}).error,
              HasSubstr("step_000003 belongs to policy 'libtorch', but the plan uses 'toy.world'"));
  ASSERT_EQ(world.run().error, "");
  const fs::path step = RunLayout{world.run_folder()}.checkpoints() / "step_000008";
  fs::remove(step / "policy/toy.bin");
  EXPECT_THAT(world.run({"run.name=other", "run.from=\"" + step.string() + "\""}).error,
              HasSubstr("cannot start from there: "));
}

}  // namespace
}  // namespace krl::test
