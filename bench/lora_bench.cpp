// Adapters of low rank on one GPU, weights at random in a model's shape: the memory that sampling
// and learning take, the speed of sampling, and how far the sampler's log-probabilities are from
// the trainer's before and after a step:
//
//   lora_bench [smollm2-135m | qwen2.5-1.5b | qwen2.5-14b | qwen2.5-32b] [RANK]
//
// 64 samples of 256 tokens after prompts of 128. With RANK 0 all weights learn.
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

#include "bench/model_shapes.hpp"
#include "plugins/policies/libtorch/base/random_stream.hpp"
#include "plugins/policies/libtorch/generation/cuda/cuda_generator.hpp"
#include "plugins/policies/libtorch/model/cuda/operations.hpp"
#include "plugins/policies/libtorch/torch.hpp"
#include "plugins/policies/libtorch/training/trainer.hpp"
#include "tests/unit/policies/recording_host.hpp"

namespace {

using namespace krl;
using namespace krl::libtorch;
using namespace krl::test;

constexpr std::int64_t kSamples = 64, kPrompt = 128, kAnswer = 256;

double gigabytes(bool peak) {
  const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(0).allocated_bytes[0];
  return static_cast<double>(peak ? stats.peak : stats.current) * 1e-9;
}

// As a file of bfloat16 would have them, but that all matrices are parts of one.
class RandomWeights {
 public:
  explicit RandomWeights(const ParameterLayout& layout) {
    std::int64_t largest = 0;
    for (const ParameterSlot& slot : layout.slots) largest = std::max(largest, slot.size);
    matrix_ = at::empty({largest}, at::kBFloat16).normal_(0, 0.02);
    for (const ParameterSlot& slot : layout.slots) {
      if (slot.deviation == 0) vectors_.push_back(at::full({slot.size}, slot.start, at::kBFloat16));
      const at::Tensor& from = slot.deviation == 0 ? vectors_.back() : matrix_;
      pieces_.push_back({slot.offset,
                         slot.size,
                         StoredType::kBFloat16,
                         {static_cast<const char*>(from.const_data_ptr()),
                          static_cast<std::size_t>(2 * slot.size)}});
    }
  }
  StoredWeights stored() const { return {pieces_, nullptr}; }

 private:
  at::Tensor matrix_;
  std::vector<at::Tensor> vectors_;
  std::vector<StoredPiece> pieces_;
};

std::vector<GenerationRequest> some_requests(const ModelConfig& config) {
  std::vector<GenerationRequest> requests;
  for (std::uint64_t i = 0; i < kSamples; ++i) {
    GenerationRequest& request = requests.emplace_back();
    for (std::uint64_t t = 0; t < kPrompt; ++t) {
      request.prompt.push_back(
          static_cast<TokenId>(uniform(7, i, t) * static_cast<double>(config.vocabulary)));
    }
    request.max_tokens = kAnswer;
    request.seed = i;
  }
  return requests;
}

// Samples, twice for the graphs that the first call builds; prints the speed of the second.
ExampleList sample(TextGenerator& generator, const std::vector<GenerationRequest>& requests) {
  std::vector<GeneratedSample> samples;
  double seconds = 0;
  for (int call = 0; call < 2; ++call) {
    samples.clear();
    const auto start = std::chrono::steady_clock::now();
    generator.run(
        requests, [&](const GeneratedSample& s) { samples.push_back(s); }, [] {});
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  ExampleList examples;
  for (const GeneratedSample& s : samples) {
    const float advantage = s.request % 2 == 0 ? 1.0F : -1.0F;
    examples.add({requests[s.request].prompt,
                  s.tokens,
                  s.logprobs,
                  std::vector<float>(s.tokens.size(), advantage),
                  {}});
  }
  std::printf("sampling %.0f tokens/s, ", kSamples * kAnswer / seconds);
  return examples;
}

void run(const std::string& name, std::int64_t rank) {
  const ParameterLayout layout(bench::model_shape(name, 2 * (kPrompt + kAnswer)));
  TrainerOptions options{.compute = at::kBFloat16, .micro_batch_tokens = 4096, .recompute = true};
  if (rank > 0) options.lora = LoraOptions{.rank = rank};
  WorkerThreads threads(1, [] {});
  Trainer trainer(layout, RandomWeights(layout).stored(),
                  make_cuda_operations(layout.config, options.compute), options, threads);
  std::printf("%s, %.2f billion parameters, rank %lld: %.1f GB\n", name.c_str(),
              static_cast<double>(layout.total) * 1e-9, static_cast<long long>(rank),
              gigabytes(/*peak=*/false));
  const TokenTexts texts{[](TokenId) { return std::string_view(); }, {}};
  const auto generator = make_cuda_generator(layout.config, trainer.parameters(), texts, {});
  const auto requests = some_requests(layout.config);
  const LossSpec loss("ppo", kSamples * kAnswer);
  RecordingContext context;
  for (int step = 0; step < 3; ++step) {
    std::printf("after %d steps: ", step);
    const ExampleList examples = sample(*generator, requests);
    generator->release();
    const LossMetrics metrics =
        trainer.forward_backward(policies::parse_loss(loss), examples, context);
    trainer.optimizer_step(adamw(4e-5));
    std::printf("|log-probability of sampler - trainer| mean %.5f max %.4f, peak %.1f GB\n",
                metrics.logprob_diff_mean, metrics.logprob_diff_max, gigabytes(/*peak=*/true));
    std::fflush(stdout);
  }
}

}  // namespace

int main(int count, char** arguments) try {
  run(count > 1 ? arguments[1] : "qwen2.5-1.5b", count > 2 ? std::stoll(arguments[2]) : 16);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "lora_bench: %s\n", error.what());
  return 1;
}
