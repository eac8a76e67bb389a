// The tasks of a plan's stages: they are checked before the first stage is run, and each once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/run/run_directory.hpp"
#include "tests/unit/core/learn/toy_world.hpp"

namespace krl::test {
using namespace core;
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

// An sft stage of one iteration, one of rl with four tasks, and one with two of them and a third.
constexpr const char* kThreeStages = R"(
[[dataset]]
use = "toy.world"
role = "warmup"
count = 0
pairs = 16

[[stage]]
name = "warm-up"
kind = "sft"
epochs = 1
log_every = 1

[[stage]]
name = "many"
kind = "rl"
iterations = 1

[[stage]]
name = "few"
kind = "rl"
iterations = 2
[[stage.dataset]]
use = "toy.world"
count = 2
[[stage.dataset]]
use = "toy.world"
role = "holdout"
count = 1
)";

// Whose backend names the tasks that it checks, a line each.
class PreparedTasksTest : public ::testing::Test {
 protected:
  std::string file() const { return (world_.folder() / "prepared").string(); }
  Overrides naming() const { return {"backend.prepared=\"" + file() + "\""}; }
  std::vector<std::string> prepared() const {
    std::ifstream in(file());
    std::vector<std::string> tasks;
    for (std::string line; std::getline(in, line);) tasks.push_back(line);
    return tasks;
  }

  ToyWorld world_;
};

TEST_F(PreparedTasksTest, AreRefusedBeforeAnyStageIsRun) {
  const RunReport report = world_.run({"backend.refuse=toy_1"}, kThreeStages);
  EXPECT_THAT(report.error, HasSubstr("toy.toml:1:1: task 'toy_1' is refused"));
  EXPECT_THAT(report.metrics, IsEmpty()) << "not even those of the warm-up";
}

TEST_F(PreparedTasksTest, OfTheLastStageAreRefusedBeforeTheFirstIsRun) {
  const RunReport report = world_.run({"stage.few.backend.refuse=toy_0"}, kThreeStages);
  EXPECT_THAT(report.error, HasSubstr("task 'toy_0' is refused"));
  EXPECT_THAT(report.metrics, IsEmpty());
}

TEST_F(PreparedTasksTest, AreCheckedOnceWhateverTheNumberOfTheirStages) {
  const RunReport report = world_.run(naming(), kThreeStages);
  EXPECT_EQ(report.error, "");
  EXPECT_THAT(report.all("reward/mean"), SizeIs(3));
  EXPECT_THAT(prepared(), UnorderedElementsAre("toy_0", "toy_1", "toy_2", "toy_3"));
}

TEST_F(PreparedTasksTest, AreCheckedAgainWhereAnotherBackendWillJudgeThem) {
  Overrides overrides = naming();
  overrides.emplace_back("stage.few.backend.concurrency=3");
  EXPECT_EQ(world_.run(overrides, kThreeStages).error, "");
  EXPECT_THAT(prepared(),
              UnorderedElementsAre("toy_0", "toy_1", "toy_2", "toy_3", "toy_0", "toy_1"));
}

TEST_F(PreparedTasksTest, OfAStageThatIsOverAreNotCheckedByAResumedRun) {
  world_.after_iteration = [&](const IterationMetrics& m) {
    if (m.stage == "few") world_.stop();
  };
  EXPECT_EQ(world_.run(naming(), kThreeStages).outcome, Outcome::kInterrupted);
  std::filesystem::remove(file());
  world_.after_iteration = nullptr;
  const RunReport report = world_.resume(naming(), kThreeStages);
  EXPECT_EQ(report.error, "");
  EXPECT_EQ(report.metrics.back().stage, "few");
  EXPECT_THAT(prepared(), UnorderedElementsAre("toy_0", "toy_1"));
}

// The other run is over, this one begins with its first stage.
TEST_F(PreparedTasksTest, AreAllCheckedWhereARunBeginsWithWhatAnotherHasLearned) {
  const int steps = world_.run({}, kThreeStages).metrics.back().iteration;
  const std::string checkpoint =
      "step_" + std::string(6 - std::to_string(steps).size(), '0') + std::to_string(steps);
  const auto from = RunLayout{world_.run_folder()}.checkpoints() / checkpoint;
  Overrides overrides = naming();
  overrides.insert(overrides.end(), {"run.name=fork", "run.from=\"" + from.string() + "\""});
  EXPECT_EQ(world_.run(overrides, kThreeStages).error, "");
  EXPECT_THAT(prepared(), SizeIs(4));
}

}  // namespace
}  // namespace krl::test
