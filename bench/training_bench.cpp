// Tokens a second and memory of training on a GPU: forward, backward and a step of AdamW over 32
// sequences of 512 tokens, in bfloat16 with float32 masters, weights at random in a model's shape:
//   cmake --preset release -DKERNELRL_BENCH=ON && cmake --build build/release --target
//   training_bench build/release/bench/training_bench smollm2-135m && python bench/hf_train.py
//   smollm2-135m
// The second command is the same with Hugging Face, and prints lines of the same form. Each case is
// the median of its steps, after some to warm up.
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

#include "model/cuda/operations.hpp"
#include "tests/unit/policies/recording_host.hpp"
#include "training/trainer.hpp"

namespace {

using namespace krl;
using namespace krl::libtorch;
using namespace krl::test;

constexpr int kSequences = 32, kLength = 512, kTokens = kSequences * kLength;
constexpr int kWarmUps = 3, kSteps = 10;

struct Shape {
  const char* name;
  ModelConfig config;
};

const Shape kShapes[] = {
    {"smollm2-135m",
     {.layers = 30,
      .hidden = 576,
      .heads = 9,
      .kv_heads = 3,
      .ffn = 1536,
      .context = 2048,
      .vocabulary = 49152,
      .rope_theta = 100000}},
    {"qwen2.5-1.5b",
     {.family = Family::kQwen2,
      .layers = 28,
      .hidden = 1536,
      .heads = 12,
      .kv_heads = 2,
      .ffn = 8960,
      .context = 2048,
      .vocabulary = 151936,
      .rope_theta = 1000000}},
};

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

void run_case(const Shape& shape, const std::string& name, const std::vector<float>& weights,
              const TrainerOptions& options) {
  WorkerThreads threads(1, [] {});
  Trainer trainer(ParameterLayout(shape.config), weights,
                  make_cuda_operations(shape.config, options.compute), options, threads);
  const ExampleList examples = some_examples(shape.config.vocabulary);
  RecordingContext context;
  const std::string prefix = std::string(shape.name) + " " + name;
  const auto train = [&](const char* loss) {
    const LossSpec spec(loss, kTokens);
    const LossOptions parsed = parse_loss(spec);
    report(prefix + ", " + loss, [&, parsed] {
      trainer.forward_backward(parsed, examples, context);
      trainer.optimizer_step(adamw(1e-5));
    });
  };
  train("cross_entropy");
  train("ppo");
  LogprobCollector sink;
  report(prefix + ", logprobs only", [&] { trainer.logprobs(1, examples, sink, context); });
}

}  // namespace

int main(int count, char** arguments) {
  const std::string wanted = count > 1 ? arguments[1] : "smollm2-135m";
  for (const Shape& shape : kShapes) {
    if (wanted != shape.name) continue;
    const auto weights = some_weights(ParameterLayout(shape.config));
    const TrainerOptions full = {.compute = at::kBFloat16, .micro_batch_tokens = kTokens};
    TrainerOptions less_memory = full, lora = full, split = full;
    less_memory.recompute = true;
    split.micro_batch_tokens = kTokens / 4;
    lora.lora = LoraOptions{};
    run_case(shape, "full", weights, full);
    run_case(shape, "full, 4 micro-batches", weights, split);
    run_case(shape, "full, blocks recomputed", weights, less_memory);
    run_case(shape, "LoRA of rank 16", weights, lora);
    return 0;
  }
  std::fprintf(stderr, "unknown shape '%s'\n", wanted.c_str());
  return 2;
}
