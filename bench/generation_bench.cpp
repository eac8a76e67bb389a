// Tokens a second of generation on a GPU, alongside what its memory allows; bench/hf_generate.py
// does the same by Hugging Face's generate:
//
//   generation_bench [--model smollm2-135m | qwen2.5-1.5b | CONFIG.json] [--batch 64,256,512]
//                    [--prompt 128] [--new 256] [--continuous] [--steps 8]
//
// Weights are random: they change no time. Every sample has a separate prompt. A rate counts new
// tokens over the time of a whole call, prompts included, at temperature 1, logprobs recorded. The
// time of a step is that of a call less one for a single token. The floor is the time to read all
// weights and the valid keys and values once, at the speed of a copy (4.3 TB/s on an H200). With
// --continuous, four times as many samples of unequal prompts and answers go through the same
// slots.
#include <ATen/ops/empty.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAStream.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <kernelrl/values.hpp>
#include <sstream>
#include <string>

#include "bench/model_shapes.hpp"
#include "plugins/policies/libtorch/base/random_stream.hpp"
#include "plugins/policies/libtorch/generation/cuda/cuda_generator.hpp"

namespace {

using namespace krl::libtorch;

constexpr double kCopyBytesPerSecond = 4.3e12;

struct Options {
  std::string model = "smollm2-135m";
  std::vector<std::int64_t> batches = {64, 256, 512};
  std::int64_t prompt = 128, answer = 256;
  int steps = 8;
  bool continuous = false;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const auto value = [&]() -> std::string {
      if (i + 1 == argc) krl::invalid_argument(name + " needs a value");
      return argv[++i];
    };
    if (name == "--continuous") {
      options.continuous = true;
    } else if (name == "--model") {
      options.model = value();
    } else if (name == "--prompt") {
      options.prompt = std::stoll(value());
    } else if (name == "--new") {
      options.answer = std::stoll(value());
    } else if (name == "--steps") {
      options.steps = std::stoi(value());
    } else if (name == "--batch") {
      options.batches.clear();
      std::istringstream list(value());
      for (std::string batch; std::getline(list, batch, ',');) {
        options.batches.push_back(std::stoll(batch));
      }
    } else {
      krl::invalid_argument("unknown option " + name);
    }
  }
  return options;
}

ModelConfig config_of(const Options& options) {
  const std::int64_t context = 2 * (options.prompt + options.answer);
  if (!options.model.ends_with(".json")) return krl::bench::model_shape(options.model, context);
  std::ifstream file(options.model);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  if (text.empty()) krl::invalid_argument("cannot read " + options.model);
  ModelConfig config = config_from_json(text, options.model);
  config.context = context;
  return config;
}

at::Tensor random_weights(const ParameterLayout& layout) {
  const at::Tensor flat = at::empty({layout.total}, at::dtype(at::kBFloat16).device(at::kCUDA, 0));
  for (const ParameterSlot& slot : layout.slots) {
    at::Tensor values = flat.narrow(0, slot.offset, slot.size);
    slot.deviation == 0 ? values.fill_(slot.start) : values.normal_(0, slot.deviation);
  }
  return flat;
}

GenerationRequest request(const ModelConfig& config, std::uint64_t number, std::int64_t prompt,
                          std::int64_t answer) {
  GenerationRequest request;
  for (std::int64_t t = 0; t < prompt; ++t) {
    const double u = uniform(7, number, static_cast<std::uint64_t>(t));
    request.prompt.push_back(static_cast<TokenId>(u * static_cast<double>(config.vocabulary)));
  }
  request.max_tokens = answer;
  request.seed = number;
  return request;
}

struct Measured {
  double seconds;
  double tokens;
};

Measured measure(TextGenerator& generator, const std::vector<GenerationRequest>& requests) {
  Measured measured{0, 0};
  const auto start = std::chrono::steady_clock::now();
  generator.run(
      requests,
      [&](const GeneratedSample& sample) {
        measured.tokens += static_cast<double>(sample.tokens.size());
      },
      [] {});
  measured.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return measured;
}

// The fastest of some calls, after one that builds the graphs.
Measured best_of(TextGenerator& generator, const std::vector<GenerationRequest>& requests) {
  constexpr int kCalls = 3;
  measure(generator, requests);
  Measured best = measure(generator, requests);
  for (int i = 1; i < kCalls; ++i) {
    const Measured next = measure(generator, requests);
    if (next.seconds < best.seconds) best = next;
  }
  return best;
}

// Seconds to read what a step needs once, at the mean length.
double floor_of(const ParameterLayout& layout, std::int64_t batch, double mean_length) {
  const ModelConfig& config = layout.config;
  constexpr double kElementBytes = 2;
  const std::int64_t looked_up = config.tied ? 0 : config.vocabulary * config.hidden;
  const double cached = 2.0 * static_cast<double>(config.layers * config.kv_width() * batch);
  return kElementBytes * (static_cast<double>(layout.total - looked_up) + cached * mean_length) /
         kCopyBytesPerSecond;
}

double reserved_gigabytes() {
  const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(0);
  return static_cast<double>(stats.reserved_bytes[0].current) / 1e9;
}

std::unique_ptr<ContinuousGenerator> generator_of(const ParameterLayout& layout,
                                                  const at::Tensor& weights, std::int64_t batch,
                                                  int steps) {
  CudaGeneratorOptions options;
  options.most_slots = batch;
  options.steps = steps;
  const TokenTexts texts{[](TokenId) { return std::string_view(); }, {}};
  return make_cuda_generator(layout.config, frozen_parameters(layout, weights), texts, options);
}

void equal_lengths(const ParameterLayout& layout, const at::Tensor& weights, std::int64_t batch,
                   const Options& options) {
  const auto generator = generator_of(layout, weights, batch, options.steps);
  std::vector<GenerationRequest> whole, single;
  for (std::int64_t i = 0; i < batch; ++i) {
    const auto number = static_cast<std::uint64_t>(i);
    whole.push_back(request(layout.config, number, options.prompt, options.answer));
    single.push_back(request(layout.config, number, options.prompt, 1));
  }
  const Measured all = best_of(*generator, whole), first = best_of(*generator, single);
  const double step = (all.seconds - first.seconds) / static_cast<double>(options.answer - 1);
  const double length =
      static_cast<double>(options.prompt) + static_cast<double>(options.answer) / 2;
  const double floor = floor_of(layout, batch, length);
  std::printf(
      "kernelrl %s batch %lld: %.0f tokens/s, step %.3f ms, floor %.3f ms (%.0f %%), "
      "prompts and first token %.1f ms, %.2f GB reserved\n",
      options.model.c_str(), static_cast<long long>(batch), all.tokens / all.seconds, step * 1e3,
      floor * 1e3, floor / step * 100, first.seconds * 1e3, reserved_gigabytes());
}

// Four rounds of samples, of prompts and answers between a quarter and the whole of what was asked
// for.
void unequal_lengths(const ParameterLayout& layout, const at::Tensor& weights, std::int64_t batch,
                     const Options& options) {
  const auto generator = generator_of(layout, weights, batch, options.steps);
  std::vector<GenerationRequest> requests;
  double prompt_tokens = 0;
  for (std::int64_t i = 0; i < 4 * batch; ++i) {
    const auto number = static_cast<std::uint64_t>(i);
    const auto part = [&](std::int64_t whole, std::uint64_t which) {
      const double share = 0.25 + 0.75 * uniform(8, number, which);
      return std::max<std::int64_t>(1,
                                    static_cast<std::int64_t>(share * static_cast<double>(whole)));
    };
    requests.push_back(
        request(layout.config, number, part(options.prompt, 0), part(options.answer, 1)));
    prompt_tokens += static_cast<double>(requests.back().prompt.size());
  }
  const Measured all = best_of(*generator, requests);
  std::printf(
      "kernelrl %s continuous, %lld slots, %zu samples of unequal lengths: %.0f tokens/s "
      "(%.0f with those of the prompts)\n",
      options.model.c_str(), static_cast<long long>(batch), requests.size(),
      all.tokens / all.seconds, (all.tokens + prompt_tokens) / all.seconds);
}

int run(int argc, char** argv) {
  const Options options = parse(argc, argv);
  const ParameterLayout layout(config_of(options));
  const at::Tensor weights = random_weights(layout);
  for (const std::int64_t batch : options.batches) {
    if (options.continuous) {
      unequal_lengths(layout, weights, batch, options);
    } else {
      equal_lengths(layout, weights, batch, options);
    }
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "generation_bench: %s\n", error.what());
    return 1;
  }
}
