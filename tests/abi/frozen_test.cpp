// The plugins of version 1.0 in binaries/, as they were built then, and a host: today's, or one of a
// later minor version, whose abi.h has longer structs. The same for a plugin of the later version.
#include <gtest/gtest.h>
#include <kernelrl/temporary_folder.hpp>
#include <kernelrl/testing.hpp>

#include <cmath>
#include <string>

namespace krl {
namespace {

using testing::Plugin;
using testing::TurnBuilder;

const std::string kBinaries = KERNELRL_SOURCE_DIR "/tests/abi/binaries/1.0/";

void check_reward(const Plugin& plugin) {
  const auto reward = plugin.reward("frozen.reward", {{"limit", 100.0}});
  EXPECT_EQ(reward.scores({TurnBuilder().source("0123456789"), TurnBuilder()}),
            (std::vector<double>{0.9, 1.0}));
  EXPECT_THROW(plugin.reward("frozen.reward", {{"limit", 0.0}}), std::runtime_error);
}

void check_dataset(const Plugin& plugin) {
  const auto dataset = plugin.dataset("frozen.dataset", {{"count", 3}});
  EXPECT_EQ(dataset.size(), 3u);
  EXPECT_EQ(dataset.read(2).id, "scaled_copy_4");
  EXPECT_THROW(dataset.read(3), Failure);
}

void check_backend(const Plugin& plugin) {
  const auto backend = plugin.backend("frozen.backend");
  EXPECT_EQ(view(backend.describe().toolchain), "brackets 1.0");
  EXPECT_EQ(backend.evaluate("f(x[0]);").verdict, Verdict::kOk);
  const Evaluation refused = backend.evaluate("f(\n]");
  EXPECT_EQ(refused.verdict, Verdict::kCompileError);
  ASSERT_EQ(refused.diagnostics.size(), 1u);
  EXPECT_EQ(refused.diagnostics[0].line, 2u);
}

// Learns that the first answer pays, and knows it after save() and load().
void check_policy(const Plugin& plugin) {
  const auto policy = plugin.policy("frozen.policy", {{"first", "one"}, {"second", "two"}});
  EXPECT_EQ(policy.describe().vocabulary, 2);
  RequestValue request;
  request.n_samples = 3;
  request.messages = {{KRL_ROLE_USER, "which?"}};
  const auto samples = policy.sample({request, request});
  ASSERT_EQ(samples.size(), 6u);
  EXPECT_FLOAT_EQ(samples[5].logprobs.at(0), std::log(0.5F));

  ExampleValue example;
  example.prompt_tokens = samples[0].prompt_tokens;
  example.tokens = {0};
  example.logprobs = {std::log(0.5F)};
  example.advantages = {1};
  LossValue loss;
  loss.name = "importance_sampling";
  policy.forward_backward(loss, {example});
  OptimizerValue optimizer;
  optimizer.lr = 40;
  policy.optimizer_step(optimizer);
  const TemporaryFolder folder("kernelrl-frozen");
  policy.save(folder.path());
  const auto again = plugin.policy("frozen.policy", {{"first", "one"}, {"second", "two"}});
  again.load(folder.path());
  for (const SampleValue& sample : again.sample({request})) EXPECT_EQ(sample.text, "one");
}

void check_all_kinds(const std::string& file) {
  SCOPED_TRACE(file);
  const Plugin plugin(file);
  check_reward(plugin);
  check_dataset(plugin);
  check_backend(plugin);
  check_policy(plugin);
}

TEST(Frozen, Gxx) { check_all_kinds(kBinaries + "gxx.krl.so"); }
TEST(Frozen, GxxWithOldStrings) { check_all_kinds(kBinaries + "gxx_old_strings.krl.so"); }
TEST(Frozen, ClangWithLibcxx) { check_all_kinds(kBinaries + "clang_libcxx.krl.so"); }

TEST(Frozen, C) {
  const Plugin plugin(kBinaries + "c.krl.so");
  EXPECT_EQ(plugin.reward("test.plain_c", {{"each", 0.5}}).score(TurnBuilder().answer("four")), 2);
}

TEST(Frozen, Rust) {
  const auto reward = Plugin(kBinaries + "rust.krl.so").reward("frozen.reward", {{"limit", 100.0}});
  EXPECT_GT(reward.score(TurnBuilder().source("short")),
            reward.score(TurnBuilder().source("somewhat longer")));
}

TEST(Frozen, APluginOfALaterVersion) {
  const std::string file = KERNELRL_BINARY_DIR "/tests/plugins/later/later.krl.so";
  EXPECT_EQ(Plugin(file).c()->abi_minor, 1u);
  check_all_kinds(file);
}

}  // namespace
}  // namespace krl
