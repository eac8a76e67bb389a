#include "service/runs/runs.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "core/run/run_record.hpp"
#include "tests/scratch_folder.hpp"
#include "tests/unit/core/run/other_process.hpp"

namespace krl::service {
namespace {

namespace fs = std::filesystem;

TEST(Runs, AreFoundByTheirFolderToo) {
  const test::ScratchFolder folder;
  { ASSERT_TRUE(RunDirectory::open(folder / "runs/x", OpenMode::kNew)->write_plan("")); }
  for (const std::string path : {"runs/x", "runs/x/"}) {
    const auto run = find_run("elsewhere", (folder / path).string());
    ASSERT_TRUE(run) << run.error().message;
    EXPECT_EQ(run->name, "x");
    EXPECT_EQ(run->directory, folder / "runs/x");
  }
  EXPECT_FALSE(find_run("elsewhere", (folder / "runs").string()));
}

TEST(Runs, AreFoundByThePlanTheyWereFirstStartedFrom) {
  const test::ScratchFolder folder;
  for (const std::string name : {"a", "b"}) {
    auto run = RunDirectory::open(folder / name, OpenMode::kNew);
    ASSERT_TRUE(run->write_plan(""));
    RunStart start;
    start.plan = "/plans/" + name + ".toml";
    ASSERT_TRUE(record_start(real_file_system(), run->layout().record(), start));
    start.plan = run->layout().plan();  // as it is resumed
    ASSERT_TRUE(record_start(real_file_system(), run->layout().record(), start));
  }
  const auto found = runs_of_plan(folder.path(), "/plans/b.toml");
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ(found->front().name, "b");
}

TEST(Runs, TellsARunningOneFromADeadOne) {
  const test::ScratchFolder folder;
  fs::create_directory(folder / "no run");
  test::OtherProcess other(folder / "alive");
  {
    auto dead = RunDirectory::open(folder / "dead", OpenMode::kNew);
    ASSERT_TRUE(dead->write_plan(""));
    ASSERT_TRUE(dead->beat({}));
  }
  const auto runs = list_runs(folder.path());
  ASSERT_TRUE(runs);
  ASSERT_EQ(runs->size(), 2u);
  EXPECT_EQ((*runs)[0].name, "alive");
  EXPECT_EQ((*runs)[0].state, "running");
  EXPECT_EQ((*runs)[0].process, other.process());
  EXPECT_EQ((*runs)[1].name, "dead");
  EXPECT_EQ((*runs)[1].state, "died");
  const auto mistyped = find_run(folder.path(), "alife");
  ASSERT_FALSE(mistyped);
  EXPECT_NE(mistyped.error().message.find("did you mean 'alive'?"), std::string::npos);
  EXPECT_TRUE(list_runs(folder / "absent")->empty());
}

TEST(Runs, StopsARunByItsLockAndWaitsForItsEnd) {
  const test::ScratchFolder folder;
  test::OtherProcess other(folder / "x");
  const RunInfo run = *find_run(folder.path(), "x");
  const Status stopped = stop_run(run, std::chrono::hours(1));
  ASSERT_TRUE(stopped) << stopped.error().message;
  EXPECT_EQ(other.wait(), SIGTERM);
  const Status again = stop_run(run, std::chrono::hours(1));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().message, "x is not running");
}

IterationMetrics metrics_after(int iteration) {
  return {iteration, "reinforce", 1.5, {{"reward/mean", 0.1 * iteration}}};
}

TEST(MetricsTail, GivesEachLineOnceAndThoseOfAResumedRunAgain) {
  const test::ScratchFolder folder;
  const auto path = folder / "metrics.jsonl";
  MetricsTail tail(path);
  const auto iterations = [&] {
    std::vector<int> found;
    const auto lines = tail.next();
    for (const IterationMetrics& line : *lines) found.push_back(line.iteration);
    return found;
  };
  auto writer = MetricsWriter::open(path, 0);
  for (int i = 1; i <= 3; ++i) ASSERT_TRUE(writer->append(metrics_after(i)));
  EXPECT_EQ(iterations(), (std::vector{1, 2, 3}));
  EXPECT_EQ(iterations(), std::vector<int>());
  std::ofstream(path, std::ios::app) << "{\"iteration\":4";
  EXPECT_EQ(iterations(), std::vector<int>()) << "a line that is not whole yet";
  auto resumed = MetricsWriter::open(path, 1);
  IterationMetrics again = metrics_after(2);
  again.time = 99;
  ASSERT_TRUE(resumed->append(again));
  ASSERT_TRUE(resumed->append(metrics_after(3)));
  ASSERT_TRUE(resumed->append(metrics_after(4)));
  EXPECT_EQ(iterations(), (std::vector{2, 3, 4}));
}

}  // namespace
}  // namespace krl::service
