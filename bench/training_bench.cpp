// Tokens a second and memory of training on a GPU: forward, backward and a step of AdamW over 32
// sequences of 512 tokens, in bfloat16 with float32 masters, weights at random in a model's shape:
//
//   training_bench [smollm2-135m | qwen2.5-1.5b]
//
// bench/hf_train.py does the same with Hugging Face, and prints lines of the same form. Each case
// is the median of its steps, after some to warm up.
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

#include "bench/model_shapes.hpp"
#include "plugins/policies/libtorch/model/cuda/operations.hpp"
#include "plugins/policies/libtorch/training/trainer.hpp"
#include "tests/unit/policies/recording_host.hpp"

namespace {

using namespace krl;
using namespace krl::libtorch;
using namespace krl::test;

constexpr int kSequences = 32, kLength = 512, kTokens = kSequences * kLength;
constexpr int kWarmUps = 3, kSteps = 10;

// Numbers of the right size; their quality does not matter.
std::vector<float> some_weights(const ParameterLayout& layout) {
  std::vector<float> weights(static_cast<std::size_t>(layout.total));
  std::uint32_t state = 1;
  for (const ParameterSlot& slot : layout.slots) {
    for (std::int64_t i = 0; i < slot.size; ++i) {
      state = state * 1664525u + 1013904223u;
      const float draw = static_cast<float>(state >> 8) * 0x1p-24f - 0.5f;  // variance 1/12
      weights[static_cast<std::size_t>(slot.offset + i)] =
          slot.deviation == 0 ? slot.start : 0.02f * 3.46f * draw;
    }
  }
  return weights;
}

ExampleList some_examples(std::int64_t vocabulary) {
  ExampleList examples;
  std::uint32_t state = 7;
  const auto token = [&] {
    state = state * 1664525u + 1013904223u;
    return static_cast<std::int32_t>((state >> 8) % static_cast<std::uint32_t>(vocabulary));
  };
  for (int i = 0; i < kSequences; ++i) {
    ExampleValues values{{token()}, {}, {}, {}, {}};
    for (int t = 1; t < kLength; ++t) {
      values.tokens.push_back(token());
      values.logprobs.push_back(-11);
      values.advantages.push_back(t % 2 == 0 ? 1.0f : -0.5f);
    }
    examples.add(std::move(values));
  }
  return examples;
}

double seconds_of(const std::function<void()>& work) {
  cudaDeviceSynchronize();
  const auto start = std::chrono::steady_clock::now();
  work();
  cudaDeviceSynchronize();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void report(const std::string& name, const std::function<void()>& step) {
  for (int i = 0; i < kWarmUps; ++i) step();
  c10::cuda::CUDACachingAllocator::resetPeakStats(0);
  std::vector<double> seconds;
  for (int i = 0; i < kSteps; ++i) seconds.push_back(seconds_of(step));
  std::nth_element(seconds.begin(), seconds.begin() + kSteps / 2, seconds.end());
  const double median = seconds[kSteps / 2];
  const auto peak = c10::cuda::CUDACachingAllocator::getDeviceStats(0).allocated_bytes[0].peak;
  std::printf("kernelrl %-42s %8.0f tokens/s, step %7.2f ms, peak %5.1f GB\n", name.c_str(),
              kTokens / median, median * 1e3, static_cast<double>(peak) * 1e-9);
  std::fflush(stdout);
}

void run_case(const ModelConfig& config, const std::string& name, const std::vector<float>& weights,
              const TrainerOptions& options) {
  WorkerThreads threads(1, [] {});
  Trainer trainer(ParameterLayout(config), weights, make_cuda_operations(config, options.compute),
                  options, threads);
  const ExampleList examples = some_examples(config.vocabulary);
  RecordingContext context;
  const auto train = [&](const char* loss) {
    const LossSpec spec(loss, kTokens);
    const LossOptions parsed = policies::parse_loss(spec);
    report(name + ", " + loss, [&, parsed] {
      trainer.forward_backward(parsed, examples, context);
      trainer.optimizer_step(adamw(1e-5));
    });
  };
  train("cross_entropy");
  train("ppo");
  LogprobCollector sink;
  report(name + ", logprobs only", [&] { trainer.logprobs(1, examples, sink, context); });
}

}  // namespace

int main(int count, char** arguments) try {
  const std::string name = count > 1 ? arguments[1] : "smollm2-135m";
  const ModelConfig config = bench::model_shape(name, 2048);
  const auto weights = some_weights(ParameterLayout(config));
  const TrainerOptions full = {.compute = at::kBFloat16, .micro_batch_tokens = kTokens};
  TrainerOptions less_memory = full, lora = full, split = full;
  less_memory.recompute = true;
  split.micro_batch_tokens = kTokens / 4;
  lora.lora = LoraOptions{};
  run_case(config, name + " full", weights, full);
  run_case(config, name + " full, 4 micro-batches", weights, split);
  run_case(config, name + " full, blocks recomputed", weights, less_memory);
  run_case(config, name + " LoRA of rank 16", weights, lora);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "training_bench: %s\n", error.what());
  return 1;
}
