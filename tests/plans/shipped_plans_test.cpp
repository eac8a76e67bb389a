// What delivered plans and prompts say, read as a run reads them: with the plugins of this build.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/episode/prompt.hpp"
#include "core/learn/declared_metrics.hpp"
#include "core/learn/objectives.hpp"
#include "core/learn/training_set.hpp"
#include "core/plan/loader.hpp"
#include "core/stage/stage_data.hpp"

namespace krl::test {
using namespace core;
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

const fs::path kConfigs = KERNELRL_SOURCE_DIR "/configs";

const Registry& plugins() {
  static const Registry registry = Registry::load({installed_plugins()});
  return registry;
}

Result<Catalog> catalog(const PluginSettings& = {}) {
  Catalog catalog = plugins().catalog();
  catalog.metrics = declared_metrics();
  return catalog;
}

// The settings of a delivered plan's last stage.
Settings settings_of(const std::string& name) {
  const auto plan = load_plan(kConfigs / (name + ".toml"), {}, catalog);
  if (!plan) throw std::runtime_error(plan.error().message);
  return plan->stages.back().settings;
}

TurnRecord scored(double score) {
  TurnRecord turn;
  turn.answer.prompt_tokens = turn.answer.tokens = {1};
  turn.answer.logprobs = {-1};
  turn.evaluation.verdict = Verdict::kOk;
  turn.score.total = score;
  return turn;
}

// Three turns of two episodes, which return 0 + 0.4 · 2 = 0.8, 2 and 3.
TrainingSet samples_by(const LearnSettings& learn) {
  const Task task{"t", "", "", 0, ""};
  return select_examples({{&task, {}, 0, {scored(0), scored(2)}}, {&task, {}, 1, {scored(3)}}},
                         learn);
}

TEST(ShippedPlan, OfKevinComparesAllTurnsOfATaskAndNeverStopsEarly) {
  const Settings kevin = settings_of("recipes/kevin");
  EXPECT_FALSE(kevin.rollout.stop_when);
  EXPECT_GT(kevin.rollout.turns, 1);
  EXPECT_EQ(kevin.learn.group_by, GroupBy::kTask);
  EXPECT_EQ(kevin.learn.returns.kind, ReturnKind::kSum);
  EXPECT_EQ(kevin.learn.returns.discount, 0.4);
  const TrainingSet samples = samples_by(kevin.learn);
  const auto expected = group_advantages({{0.8, 0}, {2, 0}, {3, 1}}, AdvantageKind::kGrpo);
  ASSERT_THAT(samples.examples, SizeIs(3));
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_FLOAT_EQ(samples.examples[i].advantages[0], static_cast<float>(expected[i]));
}

TEST(ShippedPlan, ComparesTurnsWithTheirLikeWhereItSaysNothingElse) {
  const Settings settings = settings_of("two_turns");
  EXPECT_TRUE(settings.rollout.stop_when);
  EXPECT_EQ(settings.learn.group_by, GroupBy::kTurn);
  const TrainingSet samples = samples_by(settings.learn);
  EXPECT_EQ(samples.too_small, 1) << "the second turn has nothing to be compared with";
  const auto expected = group_advantages({{0.8, 0}, {3, 1}}, AdvantageKind::kGrpo);
  ASSERT_THAT(samples.examples, SizeIs(2));
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_FLOAT_EQ(samples.examples[i].advantages[0], static_cast<float>(expected[i]));
}

Task built_in_task(const std::string& id) {
  const auto settings = configure_component(
      Kind::kDataset, "tasks",
      {"path=\"" + (kConfigs / "tasks").string() + "\"", "only=[\"" + id + "\"]"}, *catalog());
  if (!settings) throw std::runtime_error(settings.error().message);
  const CallScope scope;
  Components components(plugins(), scope);
  const auto data = read_datasets({{*settings, DatasetRole::kTrain}}, components);
  if (!data) throw std::runtime_error(data.error().message);
  return data->tasks.at(0);
}

class ShippedPrompt : public ::testing::TestWithParam<std::string> {};

TEST_P(ShippedPrompt, NamesTheSizesAndTheGpu) {
  const Task task = built_in_task("vector_add");
  const auto prompt = [&](TimedOn timed_on) {
    const auto builder = PromptBuilder::load(kConfigs / "prompts" / GetParam(), "",
                                             Contract::kDevice, std::move(timed_on));
    EXPECT_TRUE(builder) << builder.error().message;
    return builder->build(task, {})[0].text;
  };
  EXPECT_THAT(prompt({"NVIDIA H200", true}),
              AllOf(HasSubstr("  n=67108864\n"), HasSubstr("  NVIDIA H200\n")));
  EXPECT_THAT(
      prompt({"a model of an A100", false}),
      AllOf(HasSubstr("n=1003"), HasSubstr("n=16387"), HasSubstr("  a model of an A100\n")));
}

INSTANTIATE_TEST_SUITE_P(Templates, ShippedPrompt, ::testing::Values("default", "host"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace krl::test
