// configs/recipes, made small. With models of two layers of the families that they name, on the CPU,
// every stage runs; in the toy world, whose answers differ in what they are worth, each learns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "tests/plans/program.hpp"
#include "tests/plans/run_folder.hpp"
#include "tests/plans/tiny_model.hpp"
#include "tests/scratch_folder.hpp"

namespace krl::test {
namespace {

namespace fs = std::filesystem;
using ::testing::Each;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using Words = std::vector<std::string>;

const fs::path kRecipes = KERNELRL_SOURCE_DIR "/configs/recipes";

// On KernelBench, whose tasks come from elsewhere: the built-in ones stand for them here.
const Words kOtherTasks = {"dataset.0.path=tasks", "dataset.0.except=[]", "dataset.1.path=tasks",
                           "dataset.1.only=[\"abs_diff\"]", "eval.every=0"};
const Words kShortThoughts = {"rollout.thinking_tokens=8"};
const Words kFewPairs = {"dataset.2.count=4", "dataset.2.only=[\"vector_add\"]"};

struct Recipe {
  std::string name;
  libtorch::Family family;
  Words stages;            // of reinforcement
  std::vector<Words> few;  // what makes the datasets and the warm-up small
  bool searches = false;   // with an archive
};
std::ostream& operator<<(std::ostream& out, const Recipe& recipe) { return out << recipe.name; }

const Recipe kAll[] = {
    {"kevin", libtorch::Family::kQwen3, {"reinforce", "longer"}, {kOtherTasks}},
    {"drkernel",
     libtorch::Family::kQwen3,
     {"reinforce"},
     {kOtherTasks, kFewPairs, {"stage.warm-up.epochs=1"}}},
    {"cuda_l1",
     libtorch::Family::kQwen2,
     {"\"own kernels\"", "contrastive"},
     {kOtherTasks, kFewPairs, {"stage.imitate.epochs=1"}},
     /*searches=*/true},
    {"ttt_discover", libtorch::Family::kQwen3, {"discover"}, {kShortThoughts}, /*searches=*/true},
    {"kernelbench_7b",
     libtorch::Family::kQwen2,
     {"reinforce"},
     {kOtherTasks, kFewPairs, kShortThoughts}},
    {"discover", libtorch::Family::kQwen2, {"search"}, {kShortThoughts}, /*searches=*/true}};

void add(Words& words, const Words& sets) {
  for (const std::string& set : sets) words.insert(words.end(), {"--set", set});
}

class RecipePlan : public ::testing::TestWithParam<Recipe> {
 protected:
  // The recipe as a call's last words, with stages of so many iterations and answers of `tokens`.
  Words small(std::size_t iterations, const std::string& tokens) const {
    Words words = {(kRecipes / (GetParam().name + ".toml")).string()};
    add(words, {"run.name=small", "rollout.max_tokens=" + tokens, "checkpoint.every=0"});
    for (const std::string& stage : GetParam().stages)
      add(words, {"stage." + stage + ".iterations=" + std::to_string(iterations)});
    if (GetParam().name == "kevin") add(words, {"stage.longer.rollout.max_tokens=" + tokens});
    if (GetParam().name == "discover") add(words, {"learn.k=2"});  // of small groups
    return words;
  }

  // The metrics of the run's reinforcement.
  std::vector<IterationMetrics> run(Words words) {
    words.insert(words.begin(), "--plan");
    const Ending ending = run_program(words, folder_.path());
    EXPECT_EQ(ending.exit_code, 0) << ending.output;
    auto metrics = metrics_in(folder_ / "runs/small");
    std::erase_if(metrics, [](const auto& m) { return m.values.contains("sft/loss"); });
    return metrics;
  }

  ScratchFolder folder_;
};

TEST_P(RecipePlan, IsValidAndRuns) {
  const bool thinks = GetParam().family == libtorch::Family::kQwen3;
  write_tiny_qwen(folder_ / "model", GetParam().family);
  Words words = small(1, "24");
  add(words, {"backend.use=cpu", "dataset.0.only=[\"vector_add\"]", "rollout.groups=2",
              "rollout.group_size=2", "learn.truncated=zero", "learn.drop_zero_variance=false"});
  for (const Words& sets : GetParam().few) add(words, sets);
  Words check = words;
  check.insert(check.begin(), "check");
  const Ending checked = run_program(check, folder_.path());
  EXPECT_EQ(checked.exit_code, 0) << checked.output;
  EXPECT_THAT(checked.output, HasSubstr(": no errors"));

  add(words, {"policy.use=libtorch", "policy.model.directory=" + (folder_ / "model").string(),
              std::string("policy.model.chat_template=") + (thinks ? "qwen3" : "qwen2.5"),
              "policy.model.context=4096", "policy.device=cpu", "policy.dtype=float32",
              "policy.threads=2", "policy.lora.rank=4"});
  const auto metrics = run(words);
  EXPECT_THAT(metrics, SizeIs(GetParam().stages.size()));
  EXPECT_THAT(values_of(metrics, "infra_errors"), Each(0));
  EXPECT_THAT(values_of(metrics, "actor/lr"), SizeIs(metrics.size()));
  EXPECT_THAT(values_of(metrics, "actor/lr"), Each(Gt(0)));
}

// Answers of the toy world have one token, and no thoughts; half of them are right at first.
TEST_P(RecipePlan, LearnsWhichAnswerIsRight) {
  Words words = small(24 / GetParam().stages.size(), "1");
  words.insert(words.end(), {"--plugin-path", KERNELRL_BINARY_DIR "/tests/plugins"});
  const std::string pairs = "{use=\"toy.world\",role=\"warmup\",count=0,pairs=8,choice=1}";
  add(words, {"policy.use=toy.world", "backend.use=toy.world", "backend.sanitizer.use=toy.world",
              "dataset=[{use=\"toy.world\"}," + pairs + "]", "checkpoint.best=pass_rate",
              "rollout.groups=4", "rollout.group_size=8", "rollout.thinking_tokens=0",
              "rollout.distinct=0", "learn.optimizer.lr=1"});
  const auto metrics = run(words);
  const std::vector<double> passed = values_of(metrics, "kernel/pass_rate");
  ASSERT_THAT(passed, SizeIs(24));
  EXPECT_GT(std::accumulate(passed.end() - 3, passed.end(), 0.0) / 3, 0.7);
  const std::vector<double> begun = values_of(metrics, "archive/begun");
  EXPECT_EQ(!begun.empty() && begun.back() > 0, GetParam().searches);
}

INSTANTIATE_TEST_SUITE_P(Recipes, RecipePlan, ::testing::ValuesIn(kAll),
                         [](const auto& info) { return info.param.name; });

TEST(RecipePlans, EachIsTested) {
  std::set<std::string> found;
  for (const auto& entry : fs::directory_iterator(kRecipes)) found.insert(entry.path().stem());
  for (const Recipe& recipe : kAll) EXPECT_EQ(found.erase(recipe.name), 1U) << recipe.name;
  EXPECT_THAT(found, ::testing::ElementsAre("kernelbench")) << "what they include";
}

}  // namespace
}  // namespace krl::test
