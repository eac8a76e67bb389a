// Datasets through the C boundary of their built plugins.
#include <gtest/gtest.h>
#include <kernelrl/launch.hpp>
#include <kernelrl/task_definition.hpp>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "tests/scratch_folder.hpp"
#include "tests/unit/datasets/dataset_under_test.hpp"

namespace krl::testing {
namespace {

const char* const kTasks = KERNELRL_SOURCE_DIR "/configs/tasks";

TEST(TasksPlugin, GivesCompleteDefinitions) {
  const DatasetUnderTest dataset("tasks", {{"path", kTasks}, {"tiers", Value::json("[1]")}});
  ASSERT_GE(dataset.size(), 7u);
  for (std::uint64_t index = 0; index < dataset.size(); ++index) {
    const Item item = dataset.read(index);
    const auto task = parse_task_definition(item.definition_json);
    ASSERT_TRUE(task) << task.error();
    EXPECT_EQ(task->id, item.id);
    EXPECT_EQ(task->tier, 1);
    EXPECT_FALSE(task->origin.locate("naive").empty());
  }
  EXPECT_THROW(dataset.read(dataset.size()), Failure);
}

TEST(TasksPlugin, ChoosesByIdAndTier) {
  const DatasetUnderTest only("tasks",
                              {{"path", kTasks}, {"only", Value::json(R"(["relu", "dot"])")}});
  EXPECT_EQ(only.size(), 2u);
  EXPECT_EQ(only.read(0).id, "relu");
  const DatasetUnderTest rest("tasks", {{"path", kTasks}, {"except", Value::json(R"(["relu"])")}});
  const DatasetUnderTest all("tasks", {{"path", kTasks}});
  EXPECT_EQ(rest.size() + 1, all.size());
}

TEST(TasksPlugin, RefusesWhatItCannotDo) {
  EXPECT_EQ(refusal("tasks", {{"path", kTasks}, {"only", Value::json(R"(["rleu"])")}}),
            "only: unknown name 'rleu'; did you mean 'relu'?");
  EXPECT_EQ(refusal("tasks", {{"path", kTasks}, {"tiers", Value::json("[7]")}}),
            "no task of " + std::string(kTasks) + " is left: look at tiers, only and except");
  EXPECT_EQ(refusal("tasks", {{"path", "/nowhere.toml"}}),
            "/nowhere.toml: error: cannot read the file");
}

TEST(TasksPlugin, GivesKernelsAsPairs) {
  const test::ScratchFolder scratch;
  const std::filesystem::path& folder = scratch.path();
  std::filesystem::create_directories(folder / "relu");
  std::ofstream(folder / "relu.cu") << "one";
  std::ofstream(folder / "relu" / "other.cu") << "two\n";
  std::ofstream(folder / "dot.cu") << "of a task that is left out";
  const Value relu = Value::json(R"(["relu"])");
  const DatasetUnderTest pairs(
      "tasks", {{"path", kTasks}, {"only", relu}, {"pairs", true}, {"kernels", folder.string()}});
  ASSERT_EQ(pairs.size(), 3u);
  EXPECT_EQ(pairs.read(0).answer.find("<KERNEL>\n```cuda\n// @launch kern"), 0u);
  EXPECT_EQ(pairs.read(1).answer, "<KERNEL>\n```cuda\ntwo\n```\n</KERNEL>");
  EXPECT_EQ(pairs.read(2).answer, "<KERNEL>\n```cuda\none\n```\n</KERNEL>");
  EXPECT_TRUE(parse_task_definition(pairs.read(2).definition_json));
  EXPECT_EQ(refusal("tasks", {{"path", kTasks}, {"only", relu}, {"kernels", folder.string()}}),
            "kernels: " + folder.string() +
                " has no kernel ID.cu or ID/*.cu of a task to give; set pairs = true");
}

TEST(TemplatesPlugin, GivesPairsAndRepairs) {
  const DatasetUnderTest dataset("templates", {{"count", 40}, {"seed", 3}, {"repair", 0.5}});
  ASSERT_EQ(dataset.size(), 40u);
  std::size_t repairs = 0;
  for (std::uint64_t index = 0; index < dataset.size(); ++index) {
    const Item item = dataset.read(index);
    EXPECT_TRUE(parse_task_definition(item.definition_json));
    EXPECT_NE(item.answer.find("__global__"), std::string::npos);
    repairs += item.earlier.size();
  }
  EXPECT_GT(repairs, 8u);
  EXPECT_LT(repairs, 32u);
  EXPECT_THROW(dataset.read(40), Failure);
}

TEST(TemplatesPlugin, ChoosesFamiliesAndTasks) {
  const DatasetUnderTest dataset(
      "templates", {{"count", 20}, {"families", Value::json(R"(["softmax", "matmul"])")}});
  for (std::uint64_t index = 0; index < 20; ++index) {
    const std::string id = dataset.read(index).id;
    EXPECT_TRUE(id == "softmax_rows" || id == "matmul") << id;
  }
  const DatasetUnderTest one("templates", {{"count", 5}, {"only", Value::json(R"(["relu"])")}});
  EXPECT_EQ(one.read(4).id, "relu");
  const DatasetUnderTest others("templates", {{"count", 20},
                                              {"families", Value::json(R"(["softmax", "matmul"])")},
                                              {"except", Value::json(R"(["matmul"])")}});
  for (std::uint64_t index = 0; index < 20; ++index)
    EXPECT_EQ(others.read(index).id, "softmax_rows");
}

TEST(TemplatesPlugin, GivesPairsOfTwoRightKernelsOfOneTask) {
  const DatasetUnderTest dataset(
      "templates", {{"count", 40}, {"improve", 1.0}, {"only", Value::json(R"(["row_sum"])")}});
  std::size_t different = 0;
  for (std::uint64_t index = 0; index < 40; ++index) {
    const Item item = dataset.read(index);
    ASSERT_EQ(item.earlier.size(), 1u);
    EXPECT_TRUE(read_launches(item.earlier[0], *parse_task_definition(item.definition_json)));
    different += item.earlier[0] != item.answer ? 1 : 0;
  }
  EXPECT_GT(different, 30u);
}

TEST(TemplatesPlugin, SaysWhichMechanismsAPairShows) {
  const DatasetUnderTest dataset(
      "templates", {{"count", 60}, {"only", Value::json(R"(["dot"])")}, {"mechanisms", true}});
  std::set<std::string> shows;
  for (std::uint64_t i = 0; i < 60; ++i) {
    const Item item = dataset.read(i);
    shows.insert(item.shows);
    EXPECT_EQ(item.shows.find("vector4") != std::string::npos,
              item.answer.find("float4") != std::string::npos)
        << item.shows << "\n"
        << item.answer;
  }
  EXPECT_TRUE(shows.contains("")) << "naive kernels";
  EXPECT_TRUE(shows.contains("block_tree,grid_stride,stages,vector4"));
}

TEST(TemplatesPlugin, ProposesTasksAndPairsOfThem) {
  const DatasetUnderTest dataset("templates",
                                 {{"count", 30}, {"propose", 12}, {"hardest", 3}, {"seed", 2}});
  ASSERT_EQ(dataset.size(), 42u);
  std::set<std::string> tasks;
  for (std::uint64_t index = 0; index < 12; ++index) {
    EXPECT_EQ(dataset.read(index).answer, "");
    tasks.insert(dataset.read(index).id);
  }
  EXPECT_EQ(tasks.size(), 12u);
  for (std::uint64_t index = 12; index < 42; ++index) {
    const Item pair = dataset.read(index);
    EXPECT_NE(pair.answer.find("__global__"), std::string::npos);
    EXPECT_EQ(tasks.count(pair.id), 1u) << pair.id;
  }
  EXPECT_EQ(refusal("templates", {{"propose", 3}, {"only", Value::json(R"(["relu"])")}}),
            "only cannot be used with propose");
}

TEST(TemplatesPlugin, RefusesWhatItCannotDo) {
  EXPECT_EQ(refusal("templates", {{"families", Value::json(R"(["softmux"])")}}),
            "families: unknown name 'softmux'; did you mean 'softmax'?");
  EXPECT_EQ(refusal("templates", {{"only", Value::json("[3]")}}), "only: 3 is not a string");
  EXPECT_EQ(refusal("templates", {{"families", Value::json(R"(["softmax"])")},
                                  {"only", Value::json(R"(["relu"])")}}),
            "only: unknown name 'relu'; known: softmax_rows");
}

// A run's samples, as the core writes them.
class SamplesPlugin : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(run / "samples");
    std::ofstream(run / "samples" / name) << text;
  }

  static std::string sample(const char* task, int member, const char* answer, const char* verdict,
                            double score) {
    return nlohmann::json{{"task", task},     {"group", 0},         {"member", member},
                          {"answer", answer}, {"verdict", verdict}, {"score", score}}
               .dump() +
           "\n";
  }

  Table options(const Value& share) const {
    return {{"run", run.string()}, {"tasks", kTasks}, {"share", share}};
  }

  const test::ScratchFolder folder;
  const std::filesystem::path& run = folder.path();
};

TEST_F(SamplesPlugin, KeepsTheBestOfTheCorrectAnswers) {
  write("iteration_000001.jsonl",
        sample("relu", 0, "slow", "ok", 0.3) + sample("relu", 1, "wrong", "wrong_result", 0.0) +
            sample("relu", 2, "fast", "ok", 0.9) + sample("relu", 3, "fast", "ok", 0.9));
  write("iteration_000002.jsonl", sample("relu", 0, "middling", "ok", 0.5) +
                                      sample("unknown_task", 0, "fast", "ok", 1.0) +
                                      "{\"left_out\": 3}\n");
  const DatasetUnderTest all("samples", options(1.0)), best("samples", options(0.4));
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all.read(0).answer, "fast");
  EXPECT_EQ(all.read(2).answer, "slow");
  ASSERT_EQ(best.size(), 2u);
  EXPECT_EQ(best.read(1).answer, "middling");
  EXPECT_EQ(best.read(1).id, "relu");
  EXPECT_TRUE(parse_task_definition(best.read(1).definition_json));
}

TEST_F(SamplesPlugin, OfEqualScoresKeepsTheFastest) {
  nlohmann::json slow = nlohmann::json::parse(sample("relu", 0, "slow", "ok", 0.3));
  nlohmann::json fast = nlohmann::json::parse(sample("relu", 1, "fast", "ok", 0.3));
  slow["speedup"] = 0.5, fast["speedup"] = 0.9;
  write("iteration_000001.jsonl", slow.dump() + "\n" + fast.dump() + "\n");
  EXPECT_EQ(DatasetUnderTest("samples", options(0.5)).read(0).answer, "fast");
}

TEST_F(SamplesPlugin, ALaterTurnBringsTheAnswersBeforeIt) {
  write("iteration_000001.jsonl",
        sample("relu", 7, "broken", "compile_error", 0.0) + sample("relu", 7, "mended", "ok", 0.3));
  const Item item = DatasetUnderTest("samples", options(0.25)).read(0);
  EXPECT_EQ(item.answer, "mended");
  EXPECT_EQ(item.earlier, std::vector<std::string>{"broken"});
}

TEST_F(SamplesPlugin, RefusesWhatItCannotDo) {
  EXPECT_EQ(refusal("samples", options(1.0)), run.string() + ": no samples/*.jsonl in this run");
  write("iteration_000001.jsonl", sample("relu", 0, "wrong", "wrong_result", 0.0));
  EXPECT_EQ(refusal("samples", options(1.0)),
            "no sample of " + run.string() + " is a correct answer to a task of " + kTasks);
  write("iteration_000002.jsonl", sample("relu", 0, "fast", "ok", 1.0) + "{\"task\": \n");
  EXPECT_NE(refusal("samples", options(1.0)).find("iteration_000002.jsonl:2: not a sample"),
            std::string::npos);
}

}  // namespace
}  // namespace krl::testing
