// What several GPUs gain over one, each a rank and a separate process, and whether they compute
// the same:
//
//   NCCL_NVLS_ENABLE=0 ranks_bench [RANKS…]      1 and 2 if none are named
//
// For each number of ranks: the gradient in float32 of the same 48 examples, compared with that of
// the first number; tokens a second of full training steps in bfloat16 of Qwen2.5-1.5B's shape, 32
// sequences of 512 tokens a rank and step; and of generation by it, 256 prompts of 128 tokens and
// 256 new ones a rank. Weights are random. Times are the medians of whole steps or calls, from when
// all ranks begin to when all are done.
#include <cuda_runtime_api.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "bench/model_shapes.hpp"
#include "plugins/policies/libtorch/distributed/call_rows.hpp"
#include "plugins/policies/libtorch/distributed/nccl_backend.hpp"
#include "plugins/policies/libtorch/distributed/rank_group.hpp"
#include "plugins/policies/libtorch/distributed/sharing.hpp"
#include "plugins/policies/libtorch/engine/cuda/cuda_device.hpp"
#include "plugins/policies/libtorch/training/examples.hpp"
#include "tests/unit/policies/recording_host.hpp"

namespace {

using namespace krl;
using namespace krl::libtorch;
using namespace krl::test;

constexpr int kSequences = 32, kLength = 512, kTokens = kSequences * kLength;
constexpr int kWarmUps = 3, kSteps = 10, kCalls = 3;
constexpr int kPrompts = 256, kPromptTokens = 128, kNewTokens = 256;

const ModelConfig kSmall = {.layers = 12,
                            .hidden = 576,
                            .heads = 9,
                            .kv_heads = 3,
                            .ffn = 1536,
                            .context = 1024,
                            .vocabulary = 8192};
const ModelConfig kLarge = bench::qwen25_1_5b(1024);

// A repeatable sequence; its quality does not matter.
class Draws {
 public:
  explicit Draws(std::uint32_t seed) : state_(seed) {}
  // In [-0.5, 0.5).
  float centred() { return static_cast<float>(next()) * 0x1p-24F - 0.5F; }
  std::int32_t token(std::int64_t vocabulary) {
    return static_cast<std::int32_t>(next() % static_cast<std::uint32_t>(vocabulary));
  }

 private:
  std::uint32_t next() {
    state_ = state_ * 1664525U + 1013904223U;
    return state_ >> 8;
  }
  std::uint32_t state_;
};

std::vector<float> some_weights(const ParameterLayout& layout) {
  std::vector<float> weights(static_cast<std::size_t>(layout.total));
  Draws draws(1);
  for (const ParameterSlot& slot : layout.slots) {
    for (std::int64_t i = 0; i < slot.size; ++i) {
      weights[static_cast<std::size_t>(slot.offset + i)] =
          slot.deviation == 0 ? slot.start : 0.07F * draws.centred();
    }
  }
  return weights;
}

ExampleList some_examples(const ModelConfig& config, int count, int longest, std::uint32_t seed) {
  ExampleList examples;
  Draws draws(seed);
  for (int i = 0; i < count; ++i) {
    ExampleValues values{{draws.token(config.vocabulary)}, {}, {}, {}, {}};
    const int length = seed == 0 ? longest / (1 + i % 4) : longest;
    for (int t = 1; t < length; ++t) {
      values.tokens.push_back(draws.token(config.vocabulary));
      values.logprobs.push_back(-9);
      values.advantages.push_back(t % 2 == 0 ? 1.0F : -0.5F);
    }
    examples.add(std::move(values));
  }
  return examples;
}

// A rank: its GPU, its model, and the others.
class Rank {
 public:
  Rank(const RankEnvironment& ranks, const ModelConfig& config, const char* dtype)
      : ranks_(ranks), layout_(config) {
    if (!ranks.alone()) {
      group_ = std::make_unique<RankGroup>(ranks, RankTimeouts{}, "", &nccl_backend());
    }
    EngineOptions options;
    options.gpu = ranks.local_rank;
    options.dtype = dtype;
    device_ = make_cuda_device(options, threads_);
    TrainerOptions training;
    training.compute = scalar_type(dtype);
    training.micro_batch_tokens = kTokens;
    training.exchange = group_.get();
    trainer_ = std::make_unique<Trainer>(layout_, some_weights(layout_),
                                         device_->operations(config, training.compute), training,
                                         threads_);
  }

  Trainer& trainer() { return *trainer_; }
  RankGroup* group() { return group_.get(); }
  const ParameterLayout& layout() const { return layout_; }
  TextGenerator& generator() {
    return device_->generator(*trainer_, {[](TokenId) { return std::string_view(); }, {}});
  }

  // The median time of `work` on all ranks.
  double seconds_of(int warm_ups, int times, const std::function<void()>& work) {
    for (int i = 0; i < warm_ups; ++i) work();
    std::vector<double> seconds;
    for (int i = 0; i < times; ++i) {
      together();
      const auto start = std::chrono::steady_clock::now();
      work();
      together();
      seconds.push_back(
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    const auto middle = seconds.begin() + times / 2;
    std::nth_element(seconds.begin(), middle, seconds.end());
    return *middle;
  }

  void say(const char* what, double tokens, double seconds) const {
    if (ranks_.rank > 0) return;
    std::printf("ranks_bench %d GPU%s, %s: %.0f tokens/s, %.1f ms\n", ranks_.size,
                ranks_.alone() ? "" : "s", what, tokens / seconds, seconds * 1e3);
    std::fflush(stdout);
  }

 private:
  void together() {
    cudaDeviceSynchronize();
    if (group_) group_->sum(0);
  }

  RankEnvironment ranks_;
  ParameterLayout layout_;
  std::unique_ptr<RankGroup> group_;
  WorkerThreads threads_{1, [] {}};
  std::unique_ptr<Device> device_;
  std::unique_ptr<Trainer> trainer_;
};

// Leaves the gradient of all examples in `file`, as float32.
void write_gradient(const RankEnvironment& ranks, const std::filesystem::path& file) {
  Rank rank(ranks, kSmall, "float32");
  const ExampleList examples = some_examples(kSmall, 48, 256, 0);
  const auto shares = share_examples(example_lengths(examples), ranks.size);
  const ExamplePart part(examples, shares[static_cast<std::size_t>(ranks.rank)]);
  RecordingContext context;
  const LossSpec loss("ppo", 4096);
  rank.trainer().forward_backward(policies::parse_loss(loss), part.examples(), context);
  at::Tensor gradient = rank.trainer().gradient();
  if (RankGroup* group = rank.group()) {
    group->reduce_scatter(gradient);
    const Slice own = group->slice(gradient.numel());
    gradient = group->gather_on_first(gradient.narrow(0, own.begin, own.size()), gradient.numel());
  }
  if (ranks.rank > 0) return;
  const auto floats = gradient.to(at::kCPU).contiguous();
  std::ofstream(file, std::ios::binary)
      .write(static_cast<const char*>(floats.const_data_ptr()),
             static_cast<std::streamsize>(floats.nbytes()));
}

void train_and_generate(const RankEnvironment& ranks) {
  Rank rank(ranks, kLarge, "bfloat16");
  RecordingContext context;
  const ExampleList examples =
      some_examples(kLarge, kSequences, kLength, 7 + static_cast<std::uint32_t>(ranks.rank));
  const LossSpec loss("ppo", kTokens * ranks.size);
  const LossOptions options = policies::parse_loss(loss);
  const double step = rank.seconds_of(kWarmUps, kSteps, [&] {
    rank.trainer().forward_backward(options, examples, context);
    rank.trainer().optimizer_step(adamw(1e-5));
  });
  rank.say("training", static_cast<double>(kTokens) * ranks.size, step);

  std::vector<GenerationRequest> requests(kPrompts);
  Draws draws(100 + static_cast<std::uint32_t>(ranks.rank));
  for (std::size_t i = 0; i < requests.size(); ++i) {
    for (int t = 0; t < kPromptTokens; ++t) {
      requests[i].prompt.push_back(draws.token(kLarge.vocabulary));
    }
    requests[i].max_tokens = kNewTokens;
    requests[i].seed = i;
  }
  const double call = rank.seconds_of(1, kCalls, [&] {
    rank.generator().run(
        requests, [](const GeneratedSample&) {}, [] {});
  });
  rank.say("generation", static_cast<double>(kPrompts * kNewTokens) * ranks.size, call);
}

int free_port() {
  const int probe = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ::bind(probe, reinterpret_cast<sockaddr*>(&address), size);
  ::getsockname(probe, reinterpret_cast<sockaddr*>(&address), &size);
  ::close(probe);
  return ntohs(address.sin_port);
}

// Runs `work` in a process for each rank; false if one fails.
bool on_ranks(int size, const std::function<void(const RankEnvironment&)>& work) {
  const int port = free_port();
  std::fflush(nullptr);  // a child would print again what waits here
  for (int rank = 0; rank < size; ++rank) {
    if (::fork() != 0) continue;
    int code = 0;
    try {
      work({rank, size, rank, "127.0.0.1", port});
    } catch (const std::exception& error) {
      std::fprintf(stderr, "ranks_bench: rank %d: %s\n", rank, error.what());
      code = 1;
    }
    std::fflush(nullptr);
    ::_exit(code);
  }
  bool well = true;
  for (int status = 0; ::wait(&status) > 0;) well = well && status == 0;
  return well;
}

std::vector<float> floats_in(const std::filesystem::path& file) {
  std::vector<float> floats(std::filesystem::file_size(file) / sizeof(float));
  std::ifstream(file, std::ios::binary)
      .read(reinterpret_cast<char*>(floats.data()),
            static_cast<std::streamsize>(floats.size() * sizeof(float)));
  return floats;
}

void compare(const std::vector<float>& first, const std::vector<float>& other, int ranks) {
  float largest = 0, difference = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    largest = std::max(largest, std::abs(first[i]));
    difference = std::max(difference, std::abs(first[i] - other[i]));
  }
  std::printf(
      "ranks_bench %d GPUs, gradient: %zu numbers, largest %.3g, difference %.3g (%.2g of "
      "the largest)\n",
      ranks, first.size(), largest, difference, difference / largest);
}

}  // namespace

int main(int count, char** arguments) {
  std::vector<int> sizes;
  for (int i = 1; i < count; ++i) sizes.push_back(std::atoi(arguments[i]));
  if (sizes.empty()) sizes = {1, 2};
  const auto file = std::filesystem::temp_directory_path() / "ranks_bench_gradient";
  std::vector<float> first;
  for (const int size : sizes) {
    if (!on_ranks(size, [&](const RankEnvironment& ranks) { write_gradient(ranks, file); }))
      return 1;
    const std::vector<float> gradient = floats_in(file);
    if (first.empty()) first = gradient;
    compare(first, gradient, size);
    if (!on_ranks(size, train_and_generate)) return 1;
  }
  std::filesystem::remove(file);
  return 0;
}
