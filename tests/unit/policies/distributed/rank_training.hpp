// The policy of several ranks, for tests, and what they do with it. Torch is used in child
// processes alone.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "plugins/policies/libtorch/distributed/rank_policies.hpp"
#include "tests/unit/policies/distributed/rank_processes.hpp"
#include "tests/unit/policies/recording_host.hpp"
#include "tests/unit/policies/tiny_model.hpp"

namespace krl::libtorch {

inline EngineOptions options_of(const RankEnvironment& ranks, double timeout_s = 60) {
  EngineOptions options = tiny_options(/*threads=*/1);
  options.ranks = ranks;
  options.ranks_timeout_s = timeout_s;
  return options;
}

// Runs `experiment` with the policy of `size` ranks, on rank 0; the others follow.
inline void with_policy(int size, const std::function<void(TrainablePolicy&)>& experiment) {
  run_ranks(size, [&](const RankEnvironment& ranks) {
    const auto policy = create_policy(options_of(ranks), make_cpu_device);
    const test::RecordingContext context;
    if (ranks.rank > 0) return policy->follow(context);
    experiment(*policy);
  });
}

inline void fit(TrainablePolicy& policy) {
  const test::RecordingContext context;
  const std::string text = "int i = blockIdx.x * blockDim.x + threadIdx.x;\nif (i < n)\n";
  const std::vector<krl_str> texts = {to_c(text), to_c(text)};
  policy.fit(texts, 8, context);
}

inline std::vector<test::KeptSample> kept(const test::SampleCollector& collector) {
  std::vector<test::KeptSample> samples;
  for (const auto& [key, sample] : collector.samples) samples.push_back(sample);
  return samples;
}

inline std::vector<test::KeptSample> sample(TrainablePolicy& policy, std::uint64_t seed) {
  const test::RecordingContext context;
  test::RequestList requests;
  for (std::uint64_t i = 0; i < 3; ++i) {
    requests.add({.prompt = "int i", .samples = 2, .max_tokens = 20, .seed = seed + i});
  }
  requests.add({.prompt = "if (", .max_tokens = 30, .seed = seed});
  test::SampleCollector collector;
  policy.sample(requests, collector, context);
  return kept(collector);
}

inline test::ExampleList as_examples(const std::vector<test::KeptSample>& samples) {
  test::ExampleList examples;
  for (const test::KeptSample& s : samples) {
    const float advantage = s.index % 2 == 0 ? 1.0F : -0.5F;
    examples.add(
        {s.prompt_tokens, s.tokens, s.logprobs, std::vector<float>(s.tokens.size(), advantage)});
  }
  return examples;
}

// One optimiser step with everything that ranks must agree on; its figures.
inline std::map<std::string, double> learn(TrainablePolicy& policy,
                                           const std::vector<test::KeptSample>& samples) {
  const test::RecordingContext context;
  const test::LossSpec loss("ppo", 100, {{"kl", 0.1}, {"tis", 2}, {"entropy", 0.01}});
  policy.forward_backward(loss, as_examples(samples), context);
  policy.optimizer_step(test::adamw(1e-3), context);
  return context.metrics;
}

// What the work is refused with.
inline std::string refusal(const std::function<void()>& work) {
  try {
    work();
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "accepted";
}

}  // namespace krl::libtorch
