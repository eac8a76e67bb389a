// Runs of language models as plans for GPUs have them, on the CPU: with a critic, with adapters on
// a model of a directory, with answers as they come. Each learns which of the toy world's four
// answers is worth most, and continues after kills as if there had been none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <numeric>

#include "core/base/file_system.hpp"
#include "tests/plans/program.hpp"
#include "tests/plans/run_folder.hpp"
#include "tests/plans/tiny_model.hpp"
#include "tests/scratch_folder.hpp"

namespace krl::test {
using namespace core;
namespace {

namespace fs = std::filesystem;
using ::testing::Each;
using ::testing::Gt;
using ::testing::SizeIs;
using Words = std::vector<std::string>;

void add_sets(Words& words, const Words& sets) {
  for (const std::string& set : sets) {
    words.emplace_back("--set");
    words.push_back(set);
  }
}

Words choices(const Words& sets) {
  Words words = {"--plan", KERNELRL_SOURCE_DIR "/tests/plans/choices.toml", "--plugin-path",
                 KERNELRL_BINARY_DIR "/tests/plugins"};
  add_sets(words, sets);
  return words;
}

void expect_done(const Words& words, const fs::path& folder) {
  const Ending ending = run_program(words, folder);
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
}

// `kernelrl export` of the run `name` that `words` made.
void export_run(const std::string& name, Words words, const std::string& format,
                const std::string& target, const fs::path& folder) {
  words.insert(words.begin(), "export");
  words.insert(words.end(), {"--run", name, "--format", format, target});
  expect_done(words, folder);
}

// A model that gives all four answers alike: what a run of nothing but examples has exported.
const fs::path& base_model() {
  static const ScratchFolder folder;
  static const fs::path directory = [] {
    const Words words = choices({"run.name=base", "stage.reinforce.iterations=1"});
    expect_done(words, folder.path());
    Words first = {"export", "--checkpoint", "runs/base/checkpoints/step_000006", "model"};
    first.insert(first.end(), words.begin(), words.end());
    expect_done(first, folder.path());
    return folder / "model";
  }();
  return directory;
}

struct Way {
  std::string name;
  Words sets;
  std::string metric;  // that only this way writes
  bool adapts = false;
};
std::ostream& operator<<(std::ostream& out, const Way& way) { return out << way.name; }

const Way kWays[] = {
    {"Critic",
     {"policy.critic=true", "learn.advantage=gae", "learn.optimizer.lr=5e-4"},
     "critic/value_loss"},
    {"Continuous", {"rollout.batching=continuous", "rollout.turns=2"}, "turn_2/pass_rate"},
    {"Adapters",
     {"policy.lora.rank=8", "policy.lora.alpha=16", "learn.loss.kl=0.001",
      "learn.optimizer.lr=3e-3", "stage.warm-up.epochs=1"},
     "actor/ppo_kl",
     /*adapts=*/true}};

class ModelRun : public ::testing::TestWithParam<Way> {
 protected:
  ModelRun() {
    Words sets = GetParam().sets;
    if (GetParam().adapts) sets.push_back("policy.model.directory=" + base_model().string());
    words_ = choices(sets);
  }
  Words words_;
};

TEST_P(ModelRun, LearnsAndSurvivesKills) {
  const ScratchFolder undisturbed, killed;
  expect_done(words_, undisturbed.path());
  const auto metrics = metrics_in(undisturbed / "runs/choices");
  const std::vector<double> rewards = values_of(metrics, "reward/mean");
  ASSERT_THAT(rewards, SizeIs(12));
  const double last = std::accumulate(rewards.end() - 3, rewards.end(), 0.0) / 3;
  EXPECT_GT(last, rewards.front() + 0.4);
  EXPECT_THAT(values_of(metrics, GetParam().metric), SizeIs(12));

  words_.emplace_back("--resume");
  const fs::path run = killed / "runs/choices";
  const std::size_t warm_up = metrics.size() - rewards.size();
  for (const std::size_t lines : {warm_up + 2, warm_up + 7}) {
    Program program(words_, killed.path());
    ASSERT_TRUE(program.wait_until([&] { return metrics_in(run).size() >= lines; }))
        << program.wait().output;
    program.send(SIGKILL);
    EXPECT_EQ(program.wait().signal, SIGKILL);
  }
  expect_done(words_, killed.path());
  EXPECT_EQ(repeatable_lines(run), repeatable_lines(undisturbed / "runs/choices"));
}

INSTANTIATE_TEST_SUITE_P(Plans, ModelRun, ::testing::ValuesIn(kWays),
                         [](const auto& info) { return info.param.name; });

TEST(ModelExport, HasTheAdaptersAddedInOrByThemselves) {
  const ScratchFolder folder;
  const std::string base = "policy.model.directory=" + base_model().string();
  const Words words = choices({base, "policy.lora.rank=2", "policy.lora.targets=[\"v_proj\"]",
                               "stage.warm-up.epochs=1", "stage.reinforce.iterations=1"});
  expect_done(words, folder.path());
  export_run("choices", words, "peft", "adapter", folder.path());
  export_run("choices", words, "hf", "model", folder.path());
  const std::string config = read_file(folder / "adapter/adapter_config.json").value_or("");
  EXPECT_THAT(config,
              ::testing::HasSubstr("\"base_model_name_or_path\": \"" + base_model().string()));
  EXPECT_TRUE(fs::exists(folder / "adapter/adapter_model.safetensors"));
  const auto weights = [](const fs::path& directory) {
    return read_file(directory / "model.safetensors").value_or("");
  };
  EXPECT_EQ(weights(folder / "model").size(), weights(base_model()).size());
  EXPECT_NE(weights(folder / "model"), weights(base_model()));
  // What was exported is a model like any other.
  Words again = choices({"policy.model.directory=" + (folder / "model").string()});
  again.insert(again.begin(), {"export", "again"});
  expect_done(again, folder.path());
  EXPECT_EQ(weights(folder / "again"), weights(folder / "model"));
}

// configs/qwen.toml with a model of the same family, only smaller, and without a GPU.
TEST(QwenPlan, ReallyRuns) {
  const ScratchFolder folder;
  write_tiny_qwen(folder / "model", libtorch::Family::kQwen2);
  Words words = {"--plan", KERNELRL_SOURCE_DIR "/configs/qwen.toml"};
  add_sets(words,
           {"policy.model.directory=" + (folder / "model").string(),
            "policy.model.chat_template=qwen2.5", "policy.device=cpu", "policy.dtype=float32",
            "policy.threads=2", "backend.use=cpu", "dataset.0.only=[\"vector_add\"]",
            "dataset.1.only=[\"abs_diff\"]", "rollout.groups=2", "rollout.group_size=2",
            "rollout.max_tokens=24", "learn.truncated=zero", "learn.drop_zero_variance=false",
            "stage.reinforce.iterations=2"});
  expect_done(words, folder.path());
  const auto metrics = metrics_in(folder / "runs/qwen");
  ASSERT_THAT(metrics, SizeIs(2));
  EXPECT_THAT(values_of(metrics, "actor/lr"), Each(Gt(0)));
  EXPECT_THAT(values_of(metrics, "holdout/tasks/pass_rate"), SizeIs(2));
}

}  // namespace
}  // namespace krl::test
