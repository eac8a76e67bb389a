// The local policy as a whole on a GPU, through its primitives: the CPU's answers, what it learns
// from them, and what it does when memory runs out.
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <thread>

#include "plugins/policies/libtorch/engine/cuda/cuda_device.hpp"
#include "plugins/policies/libtorch/engine/local_policy.hpp"
#include "tests/unit/policies/recording_host.hpp"
#include "tests/unit/policies/temporary_directory.hpp"

namespace krl::libtorch {
namespace {

using namespace krl::test;

class PolicyOnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (c10::cuda::device_count() == 0) GTEST_SKIP() << "skipped: no GPU";
  }

  static EngineOptions small_options() {
    EngineOptions options;
    options.model = {.layers = 2,
                     .hidden = 128,
                     .heads = 4,
                     .kv_heads = 2,
                     .ffn = 192,
                     .context = 512,
                     .vocabulary = 300};
    options.threads = 2;
    options.micro_batch_tokens = 8192;
    return options;
  }

  static void fit(TrainablePolicy& policy) {
    RecordingContext context;
    const std::string text = "int i = blockIdx.x * blockDim.x + threadIdx.x;\nif (i < n)\n";
    const std::vector<krl_str> texts = {to_c(text), to_c(text)};
    policy.fit(texts, 8, context);
  }

  static std::vector<KeptSample> sample(TrainablePolicy& policy, std::uint64_t seed,
                                        std::uint32_t samples = 8, std::uint32_t tokens = 40) {
    RecordingContext context;
    RequestList requests;
    requests.add({.prompt = "int i", .samples = samples, .max_tokens = tokens, .seed = seed});
    requests.add({.prompt = "if (i", .samples = samples, .max_tokens = tokens, .seed = seed + 1});
    SampleCollector collector;
    policy.sample(requests, collector, context);
    std::vector<KeptSample> all;
    for (const auto& [key, s] : collector.samples) all.push_back(s);
    return all;
  }

  static std::vector<std::vector<std::int32_t>> tokens(const std::vector<KeptSample>& samples) {
    std::vector<std::vector<std::int32_t>> all;
    for (const KeptSample& s : samples) all.push_back(s.tokens);
    return all;
  }

  static ExampleList examples(const std::vector<KeptSample>& samples) {
    ExampleList all;
    for (const KeptSample& s : samples) {
      const float advantage = s.index % 2 ? 1.0F : -1.0F;
      all.add({s.prompt_tokens,
               s.tokens,
               s.logprobs,
               std::vector<float>(s.tokens.size(), advantage),
               {}});
    }
    return all;
  }

  // Returns the largest difference between the sampler's log-probabilities and the trainer's.
  static double learn(TrainablePolicy& policy, const std::vector<KeptSample>& samples) {
    RecordingContext context;
    const LossSpec loss("ppo", 200, {{"kl", 0.1}, {"tis", 2}});
    policy.forward_backward(loss, examples(samples), context);
    policy.optimizer_step(adamw(1e-3), context);
    return context.metrics.at("logprob_diff_max");
  }

  RecordingContext context_;
};

TEST_F(PolicyOnGpu, AnswersAndLearnsAsOnTheCpu) {
  LocalPolicy cpu(small_options()), gpu(small_options(), make_cuda_device);
  fit(cpu);
  fit(gpu);
  // A host may sample on any thread.
  const auto sample_on_gpu = [&](std::uint64_t seed) {
    std::vector<KeptSample> samples;
    std::thread([&] { samples = sample(gpu, seed); }).join();
    return samples;
  };
  const auto expected = sample(cpu, 1), got = sample_on_gpu(1);
  EXPECT_EQ(tokens(got), tokens(expected));
  EXPECT_LT(learn(cpu, expected), 1e-4);
  EXPECT_LT(learn(gpu, got), 1e-4);
  // AdamW makes much of a gradient that is nearly zero: a token may now be another here and there.
  const auto then = tokens(sample(cpu, 2)), then_on_gpu = tokens(sample_on_gpu(2));
  ASSERT_EQ(then.size(), then_on_gpu.size());
  std::size_t equal = 0;
  for (std::size_t i = 0; i < then.size(); ++i) equal += then[i] == then_on_gpu[i] ? 1 : 0;
  EXPECT_GE(equal, then.size() * 3 / 4);
}

TEST_F(PolicyOnGpu, GoesOnFromACheckpoint) {
  for (const bool with_lora : {false, true}) {
    TemporaryDirectory directory, checkpoint;
    EngineOptions options = small_options();
    LocalPolicy scratch(options);
    fit(scratch);
    scratch.export_weights(directory.path().string(), "hf", context_);
    options.model = {.context = 0};
    options.directory = directory.path().string();
    options.dtype = "bfloat16";
    options.deterministic = true;
    if (with_lora) options.lora = LoraOptions{.rank = 8, .alpha = 64};
    LocalPolicy policy(options, make_cuda_device);
    learn(policy, sample(policy, 1));
    policy.save(checkpoint.path().string(), context_);
    LocalPolicy resumed(options, make_cuda_device);
    EXPECT_NE(sample(resumed, 2), sample(policy, 2));
    resumed.load(checkpoint.path().string(), context_);
    for (std::uint64_t seed = 2; seed < 4; ++seed) {
      const auto samples = sample(policy, seed);
      EXPECT_EQ(sample(resumed, seed), samples) << (with_lora ? "LoRA" : "all weights");
      learn(policy, samples);
      learn(resumed, samples);
    }
  }
}

// What samples is what learns, adapters as well: after a step the log-probabilities of both differ
// by the rounding of bfloat16 and no more.
TEST_F(PolicyOnGpu, AfterAStepTheSamplerIsAsNearWithAdaptersAsWithout) {
  TemporaryDirectory directory;
  EngineOptions options = small_options();
  LocalPolicy scratch(options);
  fit(scratch);
  scratch.export_weights(directory.path().string(), "hf", context_);
  options.model = {.context = 0};
  options.directory = directory.path().string();
  options.dtype = "bfloat16";
  const auto difference = [&](const std::optional<LoraOptions>& lora) {
    options.lora = lora;
    LocalPolicy policy(options, make_cuda_device);
    const LossSpec loss("ppo", 200);
    double mean = 0;
    for (int step = 0; step < 2; ++step) {
      const auto samples = sample(policy, 1, 64);
      double tokens = 0;
      for (const KeptSample& s : samples) tokens += static_cast<double>(s.tokens.size());
      policy.forward_backward(loss, examples(samples), context_);
      mean = context_.metrics.at("logprob_diff_mean") * 200 / tokens;
      policy.optimizer_step(adamw(1e-4), context_);
    }
    return mean;
  };
  const double without = difference(std::nullopt);
  const double with = difference(LoraOptions{.rank = 8, .alpha = 16});
  std::printf("mean |log-probability of sampler - trainer|: %.5f, with adapters %.5f\n", without,
              with);
  EXPECT_LT(with, 1.5 * without);
}

// Memory that only sampling holds goes to learning when that needs it; where it does not suffice,
// the error says what to lower.
TEST_F(PolicyOnGpu, LearnsInTheMemoryThatSamplingLeaves) {
  namespace memory = c10::cuda::CUDACachingAllocator;
  std::size_t free = 0, total = 0;
  ASSERT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  const auto reserved = [] {
    return memory::getDeviceStats(0).reserved_bytes[0].current;  // of all pools
  };
  const auto limit = [&](std::int64_t bytes) {
    memory::setMemoryFraction(static_cast<double>(bytes) / static_cast<double>(total), 0);
  };
  LocalPolicy policy(small_options(), make_cuda_device);
  fit(policy);
  const auto samples = sample(policy, 1, 256, 500);  // 512 slots: 268 MB
  const std::int64_t before = reserved();
  limit(before);
  learn(policy, samples);
  EXPECT_LT(reserved(), before);
  EXPECT_EQ(sample(policy, 2).size(), 16U);
  memory::emptyCache();
  limit(reserved());
  try {
    learn(policy, samples);
    ADD_FAILURE() << "learned without memory";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), KRL_RESOURCE_EXHAUSTED);
    EXPECT_NE(std::string(failure.what()).find("policy.micro_batch_tokens"), std::string::npos);
  }
  memory::setMemoryFraction(1, 0);
  policy.drop_gradient();
  learn(policy, samples);
}

TEST_F(PolicyOnGpu, AStepLacksNoPartOfItsGradient) {
  LocalPolicy policy(small_options(), make_cuda_device);
  fit(policy);
  const auto samples = sample(policy, 1);
  const LossSpec loss("ppo", 200);
  RecordingContext cancelled;
  cancelled.is_cancelled = true;
  EXPECT_THROW(policy.forward_backward(loss, examples(samples), cancelled), Failure);
  learn(policy, samples);  // there was nothing to lose
  policy.forward_backward(loss, examples(samples), context_);
  EXPECT_THROW(policy.forward_backward(loss, examples(samples), cancelled), Failure);
  policy.forward_backward(loss, examples(samples), context_);
  EXPECT_THROW(policy.optimizer_step(adamw(1e-3), context_), Failure);
  learn(policy, samples);
}

}  // namespace
}  // namespace krl::libtorch
