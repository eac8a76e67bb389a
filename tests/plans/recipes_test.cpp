// configs/recipes with models of two layers of the families that they name, on the CPU: each is
// valid, and every stage of it runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
const Words kFewPairs = {"dataset.2.count=4", "dataset.2.only=[\"vector_add\"]"};

struct Recipe {
  std::string name;
  libtorch::Family family;
  std::size_t iterations;  // of its reinforcement stages, one each
  std::vector<Words> sets;
};
std::ostream& operator<<(std::ostream& out, const Recipe& recipe) { return out << recipe.name; }

const Recipe kAll[] = {
    {"kevin",
     libtorch::Family::kQwen3,
     2,
     {kOtherTasks,
      {"stage.longer.rollout.max_tokens=32", "stage.reinforce.iterations=1",
       "stage.longer.iterations=1"}}},
    {"drkernel",
     libtorch::Family::kQwen3,
     1,
     {kOtherTasks, kFewPairs, {"stage.reinforce.iterations=1", "stage.warm-up.epochs=1"}}},
    {"cuda_l1",
     libtorch::Family::kQwen2,
     2,
     {kOtherTasks,
      kFewPairs,
      {"stage.imitate.epochs=1", "stage.\"own kernels\".iterations=1",
       "stage.contrastive.iterations=1"}}},
    {"ttt_discover",
     libtorch::Family::kQwen3,
     1,
     {{"rollout.thinking_tokens=8", "stage.discover.iterations=1"}}},
    {"kernelbench_7b",
     libtorch::Family::kQwen2,
     1,
     {kOtherTasks, kFewPairs, {"rollout.thinking_tokens=8", "stage.reinforce.iterations=1"}}},
    {"discover",
     libtorch::Family::kQwen2,
     1,
     {{"rollout.thinking_tokens=8", "learn.k=2", "stage.search.iterations=1"}}}};

class RecipePlan : public ::testing::TestWithParam<Recipe> {
 protected:
  // The recipe as a call's last words, made small.
  Words small() {
    write_tiny_qwen(folder_ / "model", GetParam().family);
    Words words = {(kRecipes / (GetParam().name + ".toml")).string()};
    const bool thinks = GetParam().family == libtorch::Family::kQwen3;
    add(words, {"policy.use=libtorch", "policy.model.directory=" + (folder_ / "model").string(),
                std::string("policy.model.chat_template=") + (thinks ? "qwen3" : "qwen2.5"),
                "policy.model.context=4096", "policy.device=cpu", "policy.dtype=float32",
                "policy.threads=2", "policy.lora.rank=4", "backend.use=cpu", "run.name=small",
                "dataset.0.only=[\"vector_add\"]", "rollout.groups=2", "rollout.group_size=2",
                "rollout.max_tokens=24", "learn.truncated=zero", "learn.drop_zero_variance=false"});
    for (const Words& sets : GetParam().sets) add(words, sets);
    return words;
  }

  static void add(Words& words, const Words& sets) {
    for (const std::string& set : sets) words.insert(words.end(), {"--set", set});
  }

  ScratchFolder folder_;
};

TEST_P(RecipePlan, IsValidAndRuns) {
  Words words = small();
  words.insert(words.begin(), "check");
  const Ending checked = run_program(words, folder_.path());
  EXPECT_EQ(checked.exit_code, 0) << checked.output;
  EXPECT_THAT(checked.output, HasSubstr(": no errors"));

  words.front() = "--plan";
  const Ending ran = run_program(words, folder_.path());
  EXPECT_EQ(ran.exit_code, 0) << ran.output;
  auto metrics = metrics_in(folder_ / "runs/small");
  std::erase_if(metrics, [](const auto& m) { return m.values.contains("sft/loss"); });
  EXPECT_THAT(values_of(metrics, "reward/mean"), SizeIs(GetParam().iterations)) << ran.output;
  EXPECT_THAT(values_of(metrics, "infra_errors"), Each(0));
  EXPECT_THAT(values_of(metrics, "actor/lr"), SizeIs(GetParam().iterations));
  EXPECT_THAT(values_of(metrics, "actor/lr"), Each(Gt(0)));
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
