// Against a real service, if there is one: KERNELRL_TINKER_URL, and in KERNELRL_TINKER_MODEL the
// Hugging Face directory of its base model, by which SkyRL calls it as well. docs/tinker.md says how
// one is started on a CPU. The model is small: its answers are 16 tokens, and what is learned is to
// say even ones.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "tests/unit/policies/tinker/remote_policy.hpp"

namespace krl::tinker {
namespace {

using namespace krl::tinker::testing;
namespace fs = std::filesystem;

constexpr std::size_t kSamples = 8;

class LiveService : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::getenv("KERNELRL_TINKER_URL") == nullptr)
      GTEST_SKIP() << "skipped: no KERNELRL_TINKER_URL";
    directory_ = fs::temp_directory_path() / ("tinker_live_" + std::to_string(getpid()));
    fs::create_directories(directory_);
  }
  void TearDown() override { fs::remove_all(directory_); }

  static Table options() {
    const std::string model = std::getenv("KERNELRL_TINKER_MODEL");
    return {{"base_url", std::getenv("KERNELRL_TINKER_URL")},
            {"base_model", model},
            {"tokenizer", model},
            {"chat_template", "chatml"},
            {"lora.rank", 8},
            {"lora.seed", 1}};
  }

  // Samples of one prompt, as examples that reward even tokens.
  static ExampleList play(RemotePolicy& policy, std::uint64_t seed, double& reward) {
    RequestList requests;
    krl::test::RequestOptions request;
    request.prompt_tokens = {5, 6, 7, 8};
    request.samples = kSamples;
    request.max_tokens = 16;
    request.seed = seed;
    requests.add(request);
    const SampleCollector collected = policy.sample(requests);
    EXPECT_TRUE(collected.failures.empty()) << collected.failures.begin()->second.second;
    std::vector<double> rewards;
    for (const auto& [place, sample] : collected.samples) {
      double even = 0;
      for (const std::int32_t token : sample.tokens) even += token % 2 == 0 ? 1 : 0;
      rewards.push_back(even / static_cast<double>(sample.tokens.size()));
    }
    reward = 0;
    for (const double r : rewards) reward += r / static_cast<double>(rewards.size());
    ExampleList examples;
    std::size_t i = 0;
    for (const auto& [place, sample] : collected.samples) {
      const auto advantage = static_cast<float>(rewards[i++] - reward);
      examples.add({.prompt = sample.prompt_tokens,
                    .tokens = sample.tokens,
                    .logprobs = sample.logprobs,
                    .advantages = std::vector<float>(sample.tokens.size(), advantage)});
    }
    return examples;
  }

  static ExampleList with_old_logprobs(RemotePolicy& policy, const ExampleList& examples) {
    const auto old = policy.logprobs(examples);
    ExampleList more;
    for (std::size_t i = 0; i < examples.size(); ++i) {
      krl::test::ExampleValues values = examples[i];
      values.old_logprobs = old.at(i);
      more.add(values);
    }
    return more;
  }

  static double tokens_of(const ExampleList& examples) {
    double tokens = 0;
    for (std::size_t i = 0; i < examples.size(); ++i)
      tokens += static_cast<double>(examples[i].tokens.size());
    return tokens;
  }

  fs::path directory_;
};

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

TEST_F(LiveService, LearnsToSayEvenTokens) {
  RemotePolicy policy(options());
  std::printf("%s\n", std::string(view(policy.describe().description)).c_str());
  double first = 0, last = 0;
  for (int iteration = 0; iteration < 30; ++iteration) {
    const auto begin = std::chrono::steady_clock::now();
    policy.publish();
    const double published = seconds_since(begin);
    double reward = 0;
    const ExampleList played = play(policy, 100 + static_cast<std::uint64_t>(iteration), reward);
    const double sampled = seconds_since(begin) - published;
    const ExampleList examples = with_old_logprobs(policy, played);
    LossSpec loss("ppo", tokens_of(examples), {{"tis", 2}, {"dual_clip", 3}});
    policy.call().metrics.clear();
    policy.forward_backward(loss.last_of_step(), examples);
    policy.optimizer_step(krl::test::adamw(1e-2, 0));
    const double learned = seconds_since(begin) - published - sampled;
    auto& metrics = policy.call().metrics;
    std::printf("%2d reward %.3f loss %+.4f diff %.1e norm %.3f  publish %.2f sample %.2f learn %.2f s\n",
                iteration, reward, metrics["loss"], metrics["logprob_diff_max"],
                metrics["grad_norm"], published, sampled, learned);
    EXPECT_LT(metrics["logprob_diff_max"], 1e-3);  // sampler and trainer are one model
    if (iteration < 3) first += reward / 3;
    if (iteration >= 27) last += reward / 3;
  }
  EXPECT_GT(last, first + 0.3);
}

}  // namespace
}  // namespace krl::tinker
