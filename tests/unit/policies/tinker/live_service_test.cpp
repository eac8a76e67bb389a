// Against a real service, if there is one: KERNELRL_TINKER_URL, and in KERNELRL_TINKER_MODEL the
// Hugging Face directory of its base model, by which SkyRL calls it as well. docs/tinker.md says
// how one is started on a CPU. The model is small: its answers are 16 tokens, and what is learned
// is to say even ones.
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
    EXPECT_TRUE(collected.failures.empty()) << collected.failures.begin()->second.why;
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
    std::printf(
        "%2d reward %.3f loss %+.4f diff %.1e norm %.3f  publish %.2f sample %.2f learn %.2f s\n",
        iteration, reward, metrics["loss"], metrics["logprob_diff_max"], metrics["grad_norm"],
        published, sampled, learned);
    EXPECT_LT(metrics["logprob_diff_max"], 1e-3);  // sampler and trainer are one model
    if (iteration < 3) first += reward / 3;
    if (iteration >= 27) last += reward / 3;
  }
  EXPECT_GT(last, first + 0.3);
}

// Answers that the present weights did not sample, with everything that a loss may read.
ExampleList off_policy(const ExampleList& played) {
  ExampleList examples;
  for (std::size_t i = 0; i < played.size(); ++i) {
    krl::test::ExampleValues values = played[i];
    values.old_logprobs = values.logprobs;
    for (std::size_t t = 0; t < values.tokens.size(); ++t) {
      const auto phase = static_cast<float>(3 * i + t);
      values.logprobs[t] -= 0.3f * (1 + std::sin(phase));
      values.old_logprobs[t] -= 0.3f * (1 + std::cos(phase));
      values.advantages[t] = std::sin(1.7f * phase);
      values.weights.push_back(t % 5 == 4 ? 0.5f : 1);
    }
    values.reference_logprobs = values.old_logprobs;
    examples.add(values);
  }
  return examples;
}

// The norm of the gradient of one step, after which the weights are what they were.
double norm_of(RemotePolicy& policy, LossSpec&& loss, const ExampleList& examples) {
  policy.call().metrics.clear();
  policy.forward_backward(loss.last_of_step(), examples);
  policy.optimizer_step(krl::test::adamw(0, 0));
  return policy.call().metrics.at("grad_norm");
}

double norm_in_halves(RemotePolicy& policy, const std::string& loss, double normaliser,
                      std::map<std::string, double> parameters, const ExampleList& examples) {
  ExampleList halves[2];
  for (std::size_t i = 0; i < examples.size(); ++i) halves[i < 3 ? 0 : 1].add(examples[i]);
  policy.forward_backward(LossSpec(loss, normaliser, parameters), halves[0]);
  return norm_of(policy, LossSpec(loss, normaliser, parameters), halves[1]);
}

// By the service's own loss, by ours, in one request or several, in one call or two.
TEST_F(LiveService, OneGradientWhateverItsWay) {
  RemotePolicy own(options());
  own.publish();
  double reward = 0;
  const ExampleList examples = off_policy(play(own, 3, reward));
  Table local_options = options();
  local_options.insert_or_assign("losses", "local");
  local_options.insert_or_assign("max_chunk_examples", 3);
  RemotePolicy local(local_options);
  const double tokens = tokens_of(examples);
  for (const std::uint32_t aggregation : {KRL_TOKEN_MEAN, KRL_SEQUENCE_MEAN}) {
    for (const char* loss : {"importance_sampling", "ppo", "cispo", "gspo", "cross_entropy"}) {
      const std::map<std::string, double> parameters = {{"tis", 2}, {"dual_clip", 0}};
      const double norm = norm_of(own, LossSpec(loss, tokens, parameters, aggregation), examples);
      EXPECT_GT(norm, 1e-3) << loss;
      EXPECT_NEAR(norm_of(local, LossSpec(loss, tokens, parameters, aggregation), examples), norm,
                  1e-4 * norm)
          << loss;
      // A gradient is proportional to the loss.
      EXPECT_NEAR(norm_of(local, LossSpec(loss, 2 * tokens, parameters, aggregation), examples),
                  norm / 2, 1e-4 * norm)
          << loss;
    }
  }
  const double norm = norm_of(own, LossSpec("ppo", tokens, {{"kl", 0.1}}), examples);
  EXPECT_NEAR(norm_in_halves(own, "ppo", tokens, {{"kl", 0.1}}, examples), norm, 1e-4 * norm);
}

// A model that has not learned is its own base.
TEST_F(LiveService, TheReferenceIsTheBaseModel) {
  RemotePolicy policy(options());
  policy.publish();
  double reward = 0;
  const ExampleList played = off_policy(play(policy, 4, reward));
  const auto base = policy.logprobs(played);
  ExampleList given, missing;
  for (std::size_t i = 0; i < played.size(); ++i) {
    krl::test::ExampleValues values = played[i];
    values.reference_logprobs = base.at(i);
    given.add(values);
    values.reference_logprobs.clear();
    missing.add(values);
  }
  const double norm = norm_of(policy, LossSpec("ppo", 100, {{"kl", 1}}), given);
  EXPECT_NEAR(norm_of(policy, LossSpec("ppo", 100, {{"kl", 1}}), missing), norm, 1e-4 * norm);
}

// Of one example with one prompt token all target tokens count: the service's mean is then that of
// its cross_entropy, which `gradients = "sum"` asks for as it is.
TEST_F(LiveService, GradientHasKernelrlsScale) {
  Table as_it_is = options();
  as_it_is.insert_or_assign("gradients", "sum");
  RemotePolicy plain(as_it_is), scaled(options());
  ExampleList examples;
  examples.add({.prompt = {5}, .tokens = {6, 7, 8, 9, 10, 11}});
  const double norm = norm_of(plain, LossSpec("cross_entropy", 6), examples);
  EXPECT_NEAR(norm_of(scaled, LossSpec("cross_entropy", 6), examples), norm, 1e-4 * norm);
}

TEST_F(LiveService, GoesOnFromACheckpoint) {
  const auto step = [](RemotePolicy& policy, const ExampleList& examples) {
    policy.call().metrics.clear();
    policy.forward_backward(LossSpec("importance_sampling", 100).last_of_step(), examples);
    policy.optimizer_step(krl::test::adamw(3e-3, 0));
    return policy.call().metrics.at("grad_norm");
  };
  std::optional<ExampleList> examples;
  double third = 0, fourth = 0;
  {
    RemotePolicy policy(options());
    policy.publish();
    double reward = 0;
    examples.emplace(off_policy(play(policy, 5, reward)));
    step(policy, *examples);
    step(policy, *examples);
    policy.save(directory_.string());
    third = step(policy, *examples);
    fourth = step(policy, *examples);
  }
  RemotePolicy resumed(options());
  resumed.load(directory_.string());
  EXPECT_EQ(resumed.publish(), 2u);
  EXPECT_EQ(step(resumed, *examples), third);
  EXPECT_EQ(step(resumed, *examples), fourth);
  EXPECT_EQ(resumed.publish(), 4u);
  resumed.forget(directory_.string());
}

TEST_F(LiveService, AnswersManyRequestsAndFailsOne) {
  RemotePolicy policy(options());
  RequestList requests;
  for (std::uint64_t i = 0; i < 20; ++i) {
    krl::test::RequestOptions request;
    request.prompt = "kernel " + std::to_string(i);
    request.samples = 2;
    request.max_tokens = 8;
    request.seed = i;
    if (i == 7) request.prompt_tokens = {5, 4096};
    requests.add(request);
  }
  const SampleCollector first = policy.sample(requests);
  EXPECT_EQ(first.samples.size(), 38u);
  EXPECT_EQ(first.failures.size(), 1u);
  EXPECT_EQ(first.failures.at(7).status, KRL_INVALID_ARGUMENT);
  EXPECT_NE(first.samples.at({0, 0}).tokens, first.samples.at({0, 1}).tokens);
  EXPECT_EQ(policy.sample(requests).samples, first.samples);  // the same seeds
}

}  // namespace
}  // namespace krl::tinker
