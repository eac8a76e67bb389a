// The delivered plans with the real model and the real backend, only smaller: a model of two layers
// that knows one task. They end as they should, repeat, and survive kills.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <regex>

#include "tests/plans/program.hpp"
#include "tests/plans/run_folder.hpp"
#include "tests/scratch_folder.hpp"

namespace krl::test {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::Gt;
using ::testing::Key;
using ::testing::Not;
using ::testing::SizeIs;

using Words = std::vector<std::string>;

// A delivered plan made small, with its evaluations kept in `cache`; empty: by no backend of its
// own.
Words small(const std::string& plan, const fs::path& cache, const Words& more = {}) {
  Words words = {"--plan", KERNELRL_SOURCE_DIR "/configs/" + plan + ".toml"};
  Words sets = {"policy.model.layers=2",
                "policy.model.hidden=64",
                "policy.model.heads=2",
                "policy.model.ffn=128",
                "dataset.0.only=[\"vector_add\"]",
                "dataset.1.only=[\"vector_add\"]",
                "dataset.1.count=80",
                "dataset.1.canonical=1",
                "stage.warm-up.epochs=16",
                "stage.warm-up.optimizer.lr=1e-2",
                "rollout.groups=4",
                "rollout.group_size=4",
                "checkpoint.every=1"};
  if (!cache.empty()) sets.push_back("backend.cache=" + cache.string());
  sets.insert(sets.end(), more.begin(), more.end());
  for (const std::string& set : sets) {
    words.emplace_back("--set");
    words.push_back(set);
  }
  return words;
}

const Words kTwoIterations = {"stage.reinforce.iterations=2"};

// All runs of this process evaluate into one cache: most kernels of one are known from another.
const fs::path& shared_cache() {
  static const ScratchFolder folder;
  return folder.path();
}

// The metrics of the reinforcement stages.
std::vector<IterationMetrics> reinforced(const fs::path& run) {
  std::vector<IterationMetrics> metrics = metrics_in(run);
  std::erase_if(metrics, [](const IterationMetrics& m) { return m.stage == "warm-up"; });
  return metrics;
}

// Runs a plan to its end and gives what its reinforcement measured.
std::vector<IterationMetrics> run_small(const std::string& plan, const Words& more) {
  const ScratchFolder folder;
  const Ending ending = run_program(small(plan, shared_cache(), more), folder.path());
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  return reinforced(folder / "runs" / plan);
}

// Every plan that needs nothing but the defaults of its presets.
class Preset : public ::testing::TestWithParam<std::string> {};

TEST_P(Preset, ReallyRuns) {
  const auto metrics = run_small(GetParam(), kTwoIterations);
  ASSERT_THAT(metrics, SizeIs(2));
  EXPECT_THAT(values_of(metrics, "infra_errors"), Each(0));
  EXPECT_THAT(values_of(metrics, "reward/mean"), SizeIs(2));
  EXPECT_THAT(values_of(metrics, "kernel/compile_rate"), Contains(Gt(0)))
      << "the warm-up taught it to write kernels";
}

INSTANTIATE_TEST_SUITE_P(Configs, Preset,
                         ::testing::Values("quickstart", "gated_cpu", "milestones"),
                         [](const auto& info) { return info.param; });

class Loss : public ::testing::TestWithParam<std::string> {};

TEST_P(Loss, ReallyLearns) {
  const auto metrics =
      run_small("quickstart", {"stage.reinforce.iterations=1", "learn.loss.name=" + GetParam(),
                               "learn.advantage=rloo", "learn.drop_zero_variance=false"});
  ASSERT_THAT(metrics, SizeIs(1));
  EXPECT_THAT(values_of(metrics, "actor/lr"), Each(Gt(0)));
}

INSTANTIATE_TEST_SUITE_P(Configs, Loss, ::testing::Values("gspo", "cispo", "importance_sampling"),
                         [](const auto& info) { return info.param; });

TEST(RealRun, SearchesFromWhatItFound) {
  const auto metrics = run_small(
      "discover", {"dataset.2.count=8", "stage.reinforce.iterations=3", "archive.fresh=0"});
  ASSERT_THAT(metrics, SizeIs(3));
  EXPECT_THAT(values_of(metrics, "infra_errors"), Each(0));
  EXPECT_EQ(values_of(metrics, "archive/begun").front(), 0);
  EXPECT_GT(values_of(metrics, "archive/begun").back(), 0);
  EXPECT_THAT(values_of(metrics, "judged/kernels"), SizeIs(3));
}

TEST(RealRun, HasASecondTurnAfterAFailure) {
  const auto metrics = run_small("two_turns", kTwoIterations);
  ASSERT_THAT(metrics, SizeIs(2));
  for (const IterationMetrics& m : metrics) {
    const double passed = m.values.at("turn_1/pass_rate");
    EXPECT_DOUBLE_EQ(m.values.at("episode/turns"), 2 - passed);
    EXPECT_EQ(m.values.contains("turn_2/pass_rate"), passed < 1);
  }
}

TEST(RealRun, HasASecondTurnAfterASuccessWhereNothingStopsIt) {
  const auto metrics =
      run_small("two_turns", {"stage.reinforce.iterations=2", "rollout.stop_when=\"\""});
  ASSERT_THAT(metrics, SizeIs(2));
  EXPECT_THAT(values_of(metrics, "turn_1/pass_rate"), Contains(Gt(0)));
  EXPECT_THAT(values_of(metrics, "episode/turns"), Each(2));
}

TEST(RealRun, MeasuresWhatItHasNotSeen) {
  const auto metrics =
      run_small("transfer", {"stage.reinforce.iterations=2", "dataset.2.count=4",
                             "dataset.2.only=[\"vector_add\"]", "dataset.3.only=[\"abs_diff\"]"});
  EXPECT_THAT(values_of(metrics, "holdout/templates/pass_rate"), SizeIs(2));
  EXPECT_THAT(values_of(metrics, "holdout/tasks/pass_rate"), SizeIs(2));
}

TEST(RealRun, OpensTheNextTierWhenTheFirstIsLearned) {
  const auto metrics =
      run_small("curriculum",
                {"stage.reinforce.iterations=2", "curriculum.window=1", "curriculum.compile_rate=0",
                 "curriculum.pass_rate=0", "dataset.0.only=[\"vector_add\",\"row_sum\"]"});
  ASSERT_THAT(metrics, SizeIs(2));
  EXPECT_THAT(metrics[0].values, Not(Contains(Key("tier_1/pass_rate"))));
  const bool learned = metrics[0].values.at("tier_0/pass_rate") > 0;
  EXPECT_EQ(metrics[1].values.at("curriculum/open_tier"), learned ? 1 : 0);
  EXPECT_EQ(metrics[1].values.contains("tier_1/pass_rate"), learned);
}

TEST(RealRun, LearnsFromProposedTasks) {
  const auto metrics = run_small(
      "proposer", {"stage.reinforce.iterations=2", "dataset.2.propose=6", "dataset.2.hardest=2",
                   "dataset.3.propose=8", "dataset.3.count=60", "dataset.4.propose=2",
                   "dataset.5.only=[\"abs_diff\"]", "curriculum.window=1",
                   "curriculum.compile_rate=0", "curriculum.pass_rate=0"});
  ASSERT_THAT(metrics, SizeIs(2));
  EXPECT_THAT(metrics[0].values, Not(Contains(Key("tier_1/pass_rate"))));
  EXPECT_THAT(values_of(metrics, "holdout/templates/pass_rate"), SizeIs(2));
  const bool learned = metrics[0].values.at("tier_0/pass_rate") > 0;
  EXPECT_EQ(metrics[1].values.contains("tier_1/pass_rate"), learned);
}

TEST(RealRun, GoesFromStageToStageByItself) {
  const auto metrics =
      run_small("staged", {"stage.format.until=\"reward/format/mean >= 0\"",
                           "stage.compile.iterations=2", "stage.compile.until=\"iteration >= 2\"",
                           "stage.correctness.iterations=1", "stage.speed.iterations=1"});
  std::vector<std::string> stages;
  for (const IterationMetrics& m : metrics) stages.push_back(m.stage);
  EXPECT_THAT(stages, ElementsAre("format", "compile", "compile", "correctness", "speed"));
  EXPECT_THAT(values_of(metrics, "reward/thinking/mean"), SizeIs(2)) << "of the last two stages";
  EXPECT_THAT(values_of(metrics, "reward/thinking/mean"), Contains(Gt(0)));
}

TEST(RealRun, HasTheSameMetricsByARemoteBackend) {
  const ScratchFolder folder;
  const Words changes = {"stage.reinforce.iterations=3", "dataset.2.count=4",
                         "dataset.2.only=[\"vector_add\"]", "dataset.3.only=[\"abs_diff\"]"};
  const Ending local = run_program(small("transfer", shared_cache(), changes), folder.path());
  ASSERT_EQ(local.exit_code, 0) << local.output;
  const auto expected = repeatable_lines(folder / "runs" / "transfer");
  fs::rename(folder / "runs", folder / "local_runs");

  const ScratchFolder server_folder;
  Program server({"serve", "--seed", "client", "--port", "0", "--set",
                  "backend.cache=" + shared_cache().string()},
                 server_folder.path());
  const std::regex welcome("listening on (\\S+),");
  std::smatch found;
  std::string said;
  ASSERT_TRUE(server.wait_until([&] {
    said = server.output();
    return std::regex_search(said, found, welcome);
  })) << said;
  Words by_server = changes;
  by_server.push_back("backend={use=\"remote\", servers=[\"" + found[1].str() + "\"]}");
  const Ending remote = run_program(small("transfer", {}, by_server), folder.path());
  ASSERT_EQ(remote.exit_code, 0) << remote.output;
  EXPECT_EQ(repeatable_lines(folder / "runs" / "transfer"), expected);
  server.send(SIGTERM);
  EXPECT_EQ(server.wait().exit_code, 0);
}

TEST(RealRun, MeasuresOnAGpu) {
  const ScratchFolder folder;
  const Ending doctor = run_program({"doctor", "nvrtc"}, folder.path());
  if (doctor.exit_code != 0) GTEST_SKIP() << "skipped: no GPU\n" << doctor.output;
  const auto metrics = run_small("gpu_quickstart", kTwoIterations);
  ASSERT_THAT(metrics, SizeIs(2));
  EXPECT_THAT(values_of(metrics, "infra_errors"), Each(0));
  EXPECT_THAT(values_of(metrics, "kernel/pass_rate"), Contains(Gt(0)));
  EXPECT_THAT(values_of(metrics, "kernel/speedup_median"), Each(Gt(0)));
}

TEST(RealRun, ACascadeTellsItsCostsAndItsFiguresAreFoundAgain) {
  const ScratchFolder folder;
  const Ending ending =
      run_program(small("cascade", folder / "cache", kTwoIterations), folder.path());
  ASSERT_EQ(ending.exit_code, 0) << ending.output;
  EXPECT_THAT(values_of(reinforced(folder / "runs/cascade"), "kernel/pass_rate"), Contains(Gt(0)));
  const std::string metrics = core::read_file(folder / "runs/cascade/metrics.jsonl").value();
  for (const char* cost : {"\"cascade/nvrtc/ms\":", "\"cascade/cpu/ms\":"})
    EXPECT_THAT(metrics, ::testing::HasSubstr(cost));
  const Ending verified = run_program({"verify", "cascade", "--sample", "8"}, folder.path());
  EXPECT_EQ(verified.exit_code, 0) << verified.output;
  EXPECT_THAT(verified.output, ::testing::HasSubstr(" of samples/ evaluated again: 0 differ, "));
}

TEST(RealRun, WithTheSameSeedWritesTheSameMetrics) {
  const ScratchFolder one, two;
  const Words words = small("quickstart", one / "cache", kTwoIterations);
  const Ending first = run_program(words, one.path()), second = run_program(words, two.path());
  EXPECT_EQ(first.exit_code + second.exit_code, 0) << first.output << second.output;
  EXPECT_THAT(metrics_in(one / "runs/quickstart"), SizeIs(Ge(4)));
  EXPECT_EQ(repeatable_lines(one / "runs/quickstart"), repeatable_lines(two / "runs/quickstart"))
      << "first with an empty cache, then with a full one";
}

TEST(RealRun, ASizeThatDoesNotFitIsFoundWithoutARun) {
  const ScratchFolder folder;
  for (const char* call : {"check", "--plan"}) {
    const Ending ending = run_program(
        {call, KERNELRL_SOURCE_DIR "/configs/quickstart.toml", "--set", "policy.model.heads=3"},
        folder.path());
    EXPECT_EQ(ending.exit_code, 2);
    EXPECT_THAT(ending.output, ::testing::StartsWith("--set:1:20: error: policy 'libtorch'"));
    EXPECT_THAT(ending.output, ::testing::HasSubstr("\n  1 | policy.model.heads=3\n"));
  }
  EXPECT_FALSE(fs::exists(folder / "runs/quickstart"));
}

TEST(RealRun, KilledTwiceWritesWhatAnUndisturbedRunWrites) {
  const ScratchFolder killed, undisturbed;
  const fs::path run = killed / "runs/quickstart";
  const Words more = {"stage.reinforce.iterations=3", "stage.warm-up.epochs=8"};
  Words words = small("quickstart", shared_cache(), more);
  ASSERT_EQ(run_program(words, undisturbed.path()).exit_code, 0);
  words.emplace_back("--resume");
  const std::size_t all = metrics_in(undisturbed / "runs/quickstart").size();
  ASSERT_GE(all, 5u) << "warm-up and three iterations";
  for (const std::size_t lines : {std::size_t{1}, all - 2}) {  // in the warm-up, in reinforcement
    Program program(words, killed.path());
    ASSERT_TRUE(program.wait_until([&] { return metrics_in(run).size() >= lines; }))
        << program.wait().output;
    program.send(SIGKILL);
    EXPECT_EQ(program.wait().signal, SIGKILL);
  }
  const Ending ending = run_program(words, killed.path());
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  EXPECT_EQ(repeatable_lines(run), repeatable_lines(undisturbed / "runs/quickstart"));
}

TEST(RealRun, IsAnotherPolicyAwayFromTheToy) {
  for (const char* policy : {"toy.world", "libtorch"}) {
    const ScratchFolder folder;
    const Ending ending = run_program(
        {"--plan", KERNELRL_SOURCE_DIR "/tests/plans/swap.toml", "--plugin-path",
         KERNELRL_BINARY_DIR "/tests/plugins", "--set", std::string("policy.use=") + policy},
        folder.path());
    EXPECT_EQ(ending.exit_code, 0) << policy << ": " << ending.output;
    EXPECT_THAT(reinforced(folder / "runs/swap"), SizeIs(2)) << policy;
  }
}

}  // namespace
}  // namespace krl::test
