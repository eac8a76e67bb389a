// Searches of the toy world: whole runs that play and remember, and learn nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/unit/core/learn/toy_world.hpp"

namespace krl::test::search {
using namespace core;
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kSearch = R"(
[archive]
fresh = 0.5

[[stage]]
name = "search"
kind = "search"
iterations = 6
)";

TEST(SearchStage, FindsKernelsAndLearnsNothing) {
  const RunReport report = fresh_run({"rollout.distinct=2"}, kSearch);
  EXPECT_EQ(report.error, "");
  ASSERT_THAT(report.metrics, SizeIs(6));
  EXPECT_THAT(report.all("found/best_speedup"), SizeIs(Ge(1)));
  EXPECT_THAT(report.all("archive/kernels"), SizeIs(6));
  EXPECT_THAT(report.all("actor/lr"), IsEmpty());
  EXPECT_THAT(report.all("sampler/version_lag"), Each(0));
  EXPECT_THAT(report.all("budget/answer_tokens"), SizeIs(6));
}

TEST(SearchStage, EndsWhenTheKernelsOfEveryTaskAreJudged) {
  const RunReport report = fresh_run(
      {"stage.search.iterations=0", "stage.search.budget.kernels=2", "dataset.0.count=2"}, kSearch);
  EXPECT_EQ(report.error, "");
  ASSERT_THAT(report.metrics, Not(IsEmpty()));
  EXPECT_GE(report.all("budget/kernels").back(), 2);
  for (std::size_t i = 0; i + 1 < report.metrics.size(); ++i)
    EXPECT_LT(report.metrics[i].values.at("judged/per_task"), 2) << "it ended too late";
}

TEST(SearchStage, CountsTheKernelsOfItsOwnStage) {
  const std::string stage =
      "[[stage]]\nname = \"NAME\"\nkind = \"search\"\nbudget = { kernels = 2 }\n";
  std::string two = "[archive]\nfresh = 1\n";
  for (const char* name : {"first", "second"})
    two += std::string(stage).replace(stage.find("NAME"), 4, name);
  const RunReport report = fresh_run({"dataset.0.count=2"}, two);
  EXPECT_EQ(report.error, "");
  const auto of_second = [](const IterationMetrics& m) { return m.stage == "second"; };
  EXPECT_TRUE(std::ranges::any_of(report.metrics, of_second));
}

TEST(SearchStage, LeavesOutATaskWhosePromptThePolicyRefuses) {
  const RunReport report = fresh_run({"stage.search.iterations=0", "stage.search.budget.kernels=3",
                                      "dataset.0.count=2", "policy.refuse=\"toy_1\""},
                                     kSearch);
  EXPECT_EQ(report.error, "");
  EXPECT_GE(report.all("budget/kernels").back(), 3);
  EXPECT_THAT(report.warnings, Contains(HasSubstr("task 'toy_1' is left out from now on")));
}

TEST(SearchStage, DoesNotTryAgainWhatTheInfrastructureLost) {
  const RunReport report = fresh_run({"stage.search.tune=1", "backend.broken_choice=0",
                                      "dataset.0.count=1", "stage.search.iterations=12"},
                                     kSearch);
  EXPECT_EQ(report.error, "");
  const auto lost = report.all("tune/lost");
  ASSERT_THAT(lost, Contains(Ge(1)));
  EXPECT_EQ(lost.back(), 0);
}

TEST(SearchStage, EndsWhereNothingNewIsWritten) {
  const RunReport report =
      fresh_run({"stage.search.iterations=0", "stage.search.budget.kernels=100000"}, kSearch);
  EXPECT_EQ(report.error, "");
  const auto judged = report.all("judged/per_task");
  ASSERT_THAT(judged, SizeIs(Ge(11)));
  EXPECT_EQ(judged[judged.size() - 11], judged.back()) << "it went on in vain";
}

TEST(SearchStage, EndsWhenItsTokensAreSampled) {
  const RunReport report =
      fresh_run({"stage.search.iterations=0", "stage.search.budget.tokens=40"}, kSearch);
  EXPECT_EQ(report.error, "");
  ASSERT_THAT(report.metrics, SizeIs(3)) << "16 tokens an iteration";
  EXPECT_EQ(report.all("budget/answer_tokens").back(), 48);
}

TEST(SearchStage, TunesWhatTheArchiveHolds) {
  ToyWorld world;
  const RunReport report = world.run({"stage.search.tune=2"}, kSearch);
  EXPECT_EQ(report.error, "");
  const auto tuned = report.all("tune/kernels");
  ASSERT_THAT(tuned, SizeIs(6));
  EXPECT_EQ(tuned[0], 0) << "the archive is empty";
  EXPECT_GT(tuned[1], 0);
  EXPECT_THAT(tuned, Each(Le(8))) << "two of each of four tasks";
  std::ifstream file(world.run_folder() / "samples" / "iteration_000002.jsonl");
  int records = 0;
  for (std::string line; std::getline(file, line);)
    records += nlohmann::json::parse(line).contains("tuned_from") ? 1 : 0;
  EXPECT_EQ(records, tuned[1]);
}

TEST(SearchStage, GoesOnExactlyWhereItWasInterrupted) {
  const Overrides overrides = {"stage.search.iterations=0", "stage.search.budget.tokens=256",
                               "stage.search.tune=1",       "rollout.distinct=2",
                               "archive.islands=2",         "archive.exchange=2",
                               "checkpoint.every=3"};
  const RunReport whole = fresh_run(overrides, kSearch);
  EXPECT_EQ(whole.error, "");
  ToyWorld world;
  world.after_iteration = [&](const IterationMetrics& metrics) {
    if (metrics.iteration == 2) world.stop();
  };
  const RunReport first = world.run(overrides, kSearch);
  EXPECT_EQ(first.outcome, Outcome::kInterrupted);
  EXPECT_THAT(first.metrics, SizeIs(2));
  world.after_iteration = nullptr;
  const RunReport rest = world.resume(overrides, kSearch);
  EXPECT_EQ(rest.error, "");
  EXPECT_EQ(rest.lines(), whole.lines());
  EXPECT_THAT(whole.metrics, SizeIs(Ge(5)));
}

TEST(SearchStage, ALargerBudgetMakesAFinishedSearchLonger) {
  const Overrides none = {"stage.search.iterations=0"};
  ToyWorld world;
  const auto with = [&](const std::string& tokens) {
    Overrides all = none;
    all.push_back("stage.search.budget.tokens=" + tokens);
    return all;
  };
  EXPECT_THAT(world.run(with("32"), kSearch).metrics, SizeIs(2));
  EXPECT_EQ(world.resume(with("32"), kSearch).outcome, Outcome::kNothingToDo);
  const RunReport longer = world.resume(with("64"), kSearch);
  EXPECT_EQ(longer.error, "");
  EXPECT_THAT(longer.metrics, SizeIs(4));
}

TEST(SearchStage, IsRefusedIfItWouldNeverEndOrHasNothingToTune) {
  EXPECT_THAT(fresh_run({"stage.search.iterations=0"}, kSearch).error, HasSubstr("never end"));
  EXPECT_THAT(fresh_run({"stage.search.tune=2", "archive.enabled=false"}, kSearch).error,
              HasSubstr("no archive whose kernels could be tuned"));
  EXPECT_THAT(fresh_run({"stage.search.budget.dollars=1"}, kSearch).error, HasSubstr("no prices"));
  EXPECT_THAT(fresh_run({"rollout.ahead=1"}, kSearch).error, HasSubstr("cannot play ahead"));
  EXPECT_THAT(fresh_run({}, std::string(kSearch) + "[[add.dataset]]\nuse = \"toy.world\"\nrole = "
                                                   "\"holdout\"\n")
                  .error,
              HasSubstr("never measures hold-outs"));
  EXPECT_THAT(fresh_run({"stage.search.learn.epochs=1"}, kSearch).error,
              HasSubstr("a search stage does not use 'learn'"));
}

TEST(SearchStage, LearnsAgainInALaterStageOfThePlan) {
  const RunReport report = fresh_run({}, std::string(kSearch) + R"(
[[stage]]
name = "reinforce"
kind = "rl"
iterations = 2
)");
  EXPECT_EQ(report.error, "");
  EXPECT_THAT(report.all("actor/lr"), SizeIs(2));
}

}  // namespace
}  // namespace krl::test::search
