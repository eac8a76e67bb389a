// Tokens a second of the local policy on the quickstart's shape (4 layers of width 128, vocabulary
// 512, prompts of about 32 tokens, answers of about 90), on all cores:
//
//   policy_bench [THREADS]
//
// Training counts prompt and answer tokens through forward, backward and, every 32 examples, a
// step; generation counts answer tokens.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "plugins/policies/libtorch/engine/local_policy.hpp"
#include "tests/unit/policies/recording_host.hpp"

namespace {

using namespace krl;
using namespace krl::test;

constexpr int kRounds = 5;
constexpr std::int32_t kPromptTokens = 32, kAnswerTokens = 90;

struct Rate {
  double per_second, per_cpu_second;  // the second is less troubled by what else the machine does
};

// The medians over the rounds, after one to warm up.
Rate median_rate(double tokens, const std::function<void()>& work) {
  work();
  std::vector<double> seconds, cpu_seconds;
  for (int round = 0; round < kRounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    const std::clock_t cpu_start = std::clock();
    work();
    cpu_seconds.push_back(static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC);
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(seconds.begin(), seconds.end());
  std::sort(cpu_seconds.begin(), cpu_seconds.end());
  return {tokens / seconds[kRounds / 2], tokens / cpu_seconds[kRounds / 2]};
}

void print(const char* what, const Rate& rate) {
  std::printf("%s: %.0f tokens/s, %.0f a second of CPU time\n", what, rate.per_second,
              rate.per_cpu_second);
}

// Lines of code with enough variety for a vocabulary of 512.
std::vector<std::string> corpus() {
  std::vector<std::string> texts;
  for (int i = 0; i < 400; ++i) {
    const std::string n = std::to_string(i), m = std::to_string(i * 37 % 1000);
    texts.push_back("__global__ void kernel" + n + "(const float* x" + m +
                    ", float* y, int n) {\n" + "  int i" + m +
                    " = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i" + m + " < n) y[i" + m +
                    "] = x" + m + "[i" + m + "] * " + n + ".0f + " + m + ".5f;\n}\n");
  }
  return texts;
}

ExampleList random_examples(int count, std::int64_t vocabulary) {
  ExampleList examples;
  std::uint32_t state = 1;
  const auto token = [&] {
    state = state * 1664525u + 1013904223u;
    return static_cast<std::int32_t>(state >> 8) % static_cast<std::int32_t>(vocabulary);
  };
  for (int i = 0; i < count; ++i) {
    ExampleValues values;
    for (int t = 0; t < kPromptTokens; ++t) values.prompt.push_back(token());
    const std::int32_t length = kAnswerTokens - 20 + i % 41;  // unequal, as in life
    for (int t = 0; t < length; ++t) values.tokens.push_back(token());
    values.logprobs.assign(values.tokens.size(), -6.2f);
    values.advantages.assign(values.tokens.size(), i % 2 ? 1.0f : -1.0f);
    examples.add(std::move(values));
  }
  return examples;
}

Rate training_rate(TrainablePolicy& policy, const char* loss_name, int step_size) {
  RecordingContext context;
  std::vector<ExampleList> steps;
  double tokens = 0;
  for (int step = 0; step < 8; ++step) {
    steps.push_back(random_examples(step_size, policy.describe().vocabulary));
    for (std::size_t i = 0; i < steps.back().size(); ++i) {
      tokens += static_cast<double>(steps.back()[i].prompt.size() + steps.back()[i].tokens.size());
    }
  }
  const LossSpec loss(loss_name, 1000);
  return median_rate(tokens, [&] {
    for (const ExampleList& examples : steps) {
      policy.forward_backward(loss, examples, context);
      policy.optimizer_step(adamw(1e-5), context);
    }
  });
}

Rate generation_rate(TrainablePolicy& policy) {
  RecordingContext context;
  RequestList requests;
  for (std::uint64_t group = 0; group < 16; ++group) {
    requests.add({"__global__ void kernel" + std::to_string(group) + "(const float* x, float* y)",
                  8, kAnswerTokens, 1.0, 1.0, -1, group});
  }
  SampleCollector samples;
  policy.sample(requests, samples, context);
  double tokens = 0;
  for (const auto& [key, sample] : samples.samples) {
    tokens += static_cast<double>(sample.tokens.size());
  }
  return median_rate(tokens, [&] { policy.sample(requests, samples, context); });
}

}  // namespace

int main(int argc, char** argv) {
  libtorch::EngineOptions options;
  options.threads = argc > 1 ? std::atoi(argv[1]) : 0;
  libtorch::LocalPolicy policy(options);
  RecordingContext context;
  const std::vector<std::string> texts = corpus();
  std::vector<krl_str> views;
  for (const std::string& text : texts) views.push_back(to_c(text));
  policy.fit(views, 1, context);
  std::printf("%s, vocabulary %lld\n", policy.describe().description.c_str(),
              static_cast<long long>(policy.describe().vocabulary));
  print("generation, batch 128", generation_rate(policy));
  print("training, cross_entropy, 16 examples a step", training_rate(policy, "cross_entropy", 16));
  print("training, ppo, 32 examples a step", training_rate(policy, "ppo", 32));
  return 0;
}
