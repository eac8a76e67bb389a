// Generation on a GPU against generation on the CPU: the same logits, the same tokens for the same
// seeds, the right distribution, and a schedule that no sample notices.
#include <c10/cuda/CUDAFunctions.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <map>
#include <numeric>
#include <thread>

#include "plugins/policies/libtorch/base/random_stream.hpp"
#include "plugins/policies/libtorch/generation/cuda/cuda_generator.hpp"
#include "plugins/policies/libtorch/generation/generator.hpp"
#include "plugins/policies/libtorch/model/cuda/operations.hpp"
#include "plugins/policies/libtorch/torch.hpp"
#include "plugins/policies/libtorch/training/trainer.hpp"
#include "plugins/policies/tokenizer/scratch_tokenizer.hpp"

namespace krl::libtorch {

using namespace policies;  // tokenizer, storage

namespace {

constexpr TokenId kEnd = kEndToken;

ModelConfig small_config(Family family) {
  ModelConfig config;
  config.family = family;
  config.layers = 3;
  config.hidden = 96;
  config.heads = 6;
  config.kv_heads = 2;
  config.head_dim = 32;
  config.ffn = 160;
  config.context = 256;
  config.vocabulary = 264;
  config.tied = family != Family::kLlama;
  if (family == Family::kLlama) {
    config.rope_scaling = RopeScaling{};
    config.rope_scaling->original_context = 64;
  }
  return config;
}

// Far from uniform predictions, and with gains and biases that are not those of the start.
std::vector<float> random_weights(const ParameterLayout& layout) {
  std::vector<float> weights = initial_weights(layout, 5);
  for (std::size_t s = 0; s < layout.slots.size(); ++s) {
    const ParameterSlot& slot = layout.slots[s];
    for (std::int64_t i = 0; i < slot.size; ++i) {
      float& weight = weights[static_cast<std::size_t>(slot.offset + i)];
      const double u = uniform(6, s, static_cast<std::uint64_t>(i)) - 0.5;
      weight = slot.deviation == 0 ? weight + static_cast<float>(0.6 * u) : 2.5f * weight;
      // What bfloat16 holds exactly, so that only the arithmetic differs.
      weight = static_cast<float>(c10::BFloat16(weight));
    }
  }
  return weights;
}

struct Sample {
  std::vector<TokenId> tokens;
  std::vector<float> logprobs;
  std::string text;
  std::uint32_t stop_reason;
};
using Samples = std::map<std::pair<std::size_t, std::uint32_t>, Sample>;

void keep(Samples& samples, const GeneratedSample& sample) {
  const auto [entry, added] =
      samples.try_emplace({sample.request, sample.index},
                          Sample{sample.tokens, sample.logprobs, sample.text, sample.stop_reason});
  EXPECT_TRUE(added) << "request " << sample.request << " sample " << sample.index << " came twice";
}

Samples run(TextGenerator& generator, const std::vector<GenerationRequest>& requests) {
  Samples samples;
  generator.run(
      requests, [&](const GeneratedSample& sample) { keep(samples, sample); }, [] {});
  return samples;
}

// A model on both devices.
class Model {
 public:
  explicit Model(Family family) : layout(small_config(family)), weights(random_weights(layout)) {
    pack_weights(layout, weights, packed_);
  }

  Samples on_cpu(const std::vector<GenerationRequest>& requests) {
    WorkerThreads threads(2, [] {});
    Generator generator(packed_, texts(), threads);
    return run(generator, requests);
  }

  // Adds adapters that change what is answered; returns them.
  std::vector<float> adapt(const LoraLayout& lora) {
    std::vector<float> adapters = initial_adapters(lora);
    for (std::size_t i = 0; i < adapters.size(); ++i)
      adapters[i] += 0.1f * static_cast<float>(std::sin(static_cast<double>(i) + 1));
    pack_adapters(lora, adapters, packed_);
    return adapters;
  }

  std::vector<float> cpu_logits(const std::vector<TokenId>& tokens) {
    Decoder decoder(packed_);
    KeyValueCache cache(layout.config, static_cast<std::int64_t>(tokens.size()));
    std::span<const float> logits;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const auto position = static_cast<std::int64_t>(i);
      const DecoderRow row{tokens[i], position, nullptr, 0, &cache, position};
      logits = decoder.run({&row, 1}, 1);
    }
    return {logits.begin(), logits.end()};
  }

  at::Tensor on_gpu(at::ScalarType type) const {
    return at::tensor(weights).to(at::TensorOptions().device(at::kCUDA, 0).dtype(type));
  }

  DecoderParameters parameters(const at::Tensor& flat) const {
    return frozen_parameters(layout, flat);
  }

  TokenTexts texts() const {
    return {[this](TokenId token) { return std::string_view(encoding.bytes(token)); }, {kEnd}};
  }

  std::unique_ptr<ContinuousGenerator> generator(at::ScalarType type, std::int64_t slots = 64,
                                                 std::int64_t fixed_rows = 0) const {
    CudaGeneratorOptions options;
    options.most_slots = slots;
    options.steps = 4;
    options.decoder.fixed_rows = fixed_rows;
    return make_cuda_generator(layout.config, parameters(on_gpu(type)), texts(), options);
  }

  ParameterLayout layout;
  std::vector<float> weights;
  Tokenizer encoding = scratch_tokenizer({});

 private:
  DecoderWeights packed_;
};

GenerationRequest request(std::uint64_t number, std::size_t prompt, std::uint32_t samples = 1,
                          std::int64_t max_tokens = 40) {
  GenerationRequest request;
  for (std::size_t i = 0; i < prompt; ++i) {
    request.prompt.push_back(static_cast<TokenId>(4 + 250 * uniform(9, number, i)));
  }
  request.samples = samples;
  request.max_tokens = max_tokens;
  request.seed = number;
  return request;
}

// Prompts from one token on, some of them twice, answers of 1 to 60 tokens, all kinds of sampling.
std::vector<GenerationRequest> mixed_requests() {
  std::vector<GenerationRequest> requests;
  for (std::uint64_t i = 0; i < 60; ++i) {
    const std::size_t prompt = 1 + i * 37 % 90;
    requests.push_back(request(i, prompt, 1 + i % 4, 1 + static_cast<std::int64_t>(i * 17 % 60)));
    SamplingOptions& options = requests.back().options;
    if (i % 5 == 1) options.temperature = 0;
    if (i % 5 == 2) options.top_k = 1 + static_cast<std::int64_t>(i);
    if (i % 5 == 3) options.top_p = 0.3 + 0.01 * static_cast<double>(i);
    if (i % 5 == 4) options = {0.7, 0.9, 20};
    if (i % 7 == 0 && i > 0) requests.back().prompt = requests[i - 1].prompt;
  }
  return requests;
}

class GenerationOnGpu : public ::testing::TestWithParam<Family> {
 protected:
  void SetUp() override {
    if (c10::cuda::device_count() == 0) GTEST_SKIP() << "skipped: no GPU";
  }
};

// Logits after prompts of every length up to 70, the prompt's keys and values by prefill.
at::Tensor gpu_logits(const Model& model, at::ScalarType type, int prompts) {
  CudaDecoder decoder(model.layout.config, model.parameters(model.on_gpu(type)), {kEnd}, {});
  decoder.reserve(prompts, 128);
  std::vector<GenerationRequest> requests;
  StartBatch batch;
  std::vector<int> slots;
  for (int i = 0; i < prompts; ++i) {
    requests.push_back(request(static_cast<std::uint64_t>(i), static_cast<std::size_t>(i) + 1));
  }
  for (int i = 0; i < prompts; ++i) {
    const auto& prompt = requests[static_cast<std::size_t>(i)].prompt;
    SlotState state{};
    state.position = static_cast<int>(prompt.size()) - 1;
    state.token = prompt.back();
    state.limit = 1;
    state.top_p = 1;
    state.scale = 1;
    batch.starts.push_back({state, i});
    if (i > 0) batch.prefills.push_back({&prompt, {i}});
    slots.push_back(i);
  }
  decoder.start(batch);
  decoder.advance(slots, 1);
  decoder.collect();
  return decoder.logits().narrow(0, 0, prompts).cpu().to(at::kFloat);
}

// The logits after `prompt` by one torch operation after the other, each rounded to bfloat16 as it
// is when transformers computes in bfloat16: the noise that is nobody's fault.
at::Tensor plain_logits(const ParameterLayout& layout, const at::Tensor& flat,
                        const std::vector<TokenId>& prompt) {
  const ModelConfig& config = layout.config;
  const auto weight = [&](std::size_t slot) {
    const ParameterSlot& parameter = layout.slots[slot];
    return flat.narrow(0, parameter.offset, parameter.size).view(parameter.shape);
  };
  const auto norm = [&](const at::Tensor& x, std::size_t gain) {
    const at::Tensor wide = x.to(at::kFloat);
    const at::Tensor scale = at::rsqrt(wide.square().mean(-1, true) + config.norm_epsilon);
    return (wide * scale).to(flat.scalar_type()) * weight(gain);
  };
  const auto length = static_cast<std::int64_t>(prompt.size());
  const RotaryTable table = rotary_table(config);
  const auto angles = [&](const std::vector<float>& values) {
    const at::Tensor half = at::tensor(values).view({config.context, -1}).narrow(0, 0, length);
    return at::cat({half, half}, 1).to(flat.options());
  };
  const at::Tensor cosine = angles(table.cosine), sine = angles(table.sine);
  const auto heads = [&](const at::Tensor& x, std::int64_t count) {
    return x.view({length, count, config.head_size()});
  };
  const auto turn = [&](const at::Tensor& x) {  // [length, heads, head_size] to [heads, length, …]
    const auto halves = x.chunk(2, -1);
    const at::Tensor turned = at::cat({-halves[1], halves[0]}, -1);
    return (x * cosine.unsqueeze(1) + turned * sine.unsqueeze(1)).transpose(0, 1);
  };
  at::Tensor x =
      at::embedding(weight(layout.embedding()), at::tensor(prompt, at::kInt).to(flat.device()));
  for (std::int64_t i = 0; i < config.layers; ++i) {
    at::Tensor qkv = at::linear(norm(x, layout.attention_norm(i)), weight(layout.qkv(i)));
    if (config.qkv_bias()) qkv = qkv + weight(layout.qkv_bias(i));
    const auto parts =
        qkv.split_with_sizes({config.attention_width(), config.kv_width(), config.kv_width()}, 1);
    at::Tensor q = heads(parts[0], config.heads), k = heads(parts[1], config.kv_heads);
    if (config.qk_norm()) q = norm(q, layout.query_norm(i)), k = norm(k, layout.key_norm(i));
    const auto repeated = [&](const at::Tensor& of) {
      return of.repeat_interleave(config.heads / config.kv_heads, 0).unsqueeze(0);
    };
    const at::Tensor attended = at::scaled_dot_product_attention(
        turn(q).unsqueeze(0), repeated(turn(k)),
        repeated(heads(parts[2], config.kv_heads).transpose(0, 1)), std::nullopt, 0.0, true);
    x = x + at::linear(attended[0].transpose(0, 1).reshape({length, -1}),
                       weight(layout.attention_out(i)));
    const auto gate_up =
        at::linear(norm(x, layout.ffn_norm(i)), weight(layout.gate_up(i))).chunk(2, -1);
    x = x + at::linear(at::silu(gate_up[0]) * gate_up[1], weight(layout.down(i)));
  }
  const at::Tensor last = norm(x.narrow(0, length - 1, 1), layout.final_norm());
  return at::linear(last, weight(layout.head()))[0].cpu().to(at::kFloat);
}

struct Difference {
  double worst = 0, mean = 0;
  void add(const at::Tensor& found, const at::Tensor& expected, int of) {
    const at::Tensor error = (found - expected).abs();
    worst = std::max(worst, error.max().item<double>());
    mean += error.mean().item<double>() / of;
  }
};

TEST_P(GenerationOnGpu, LogitsAreThoseOfTheCpu) {
  Model model(GetParam());
  constexpr int kPrompts = 70;
  const at::Tensor float32 = gpu_logits(model, at::kFloat, kPrompts);
  const at::Tensor bfloat16 = gpu_logits(model, at::kBFloat16, kPrompts);
  const at::Tensor flat = model.on_gpu(at::kBFloat16);
  Difference exact, rounded, plain;
  double spread = 0;
  for (int i = 0; i < kPrompts; ++i) {
    const auto prompt =
        request(static_cast<std::uint64_t>(i), static_cast<std::size_t>(i) + 1).prompt;
    const at::Tensor expected = at::tensor(model.cpu_logits(prompt));
    exact.add(float32[i], expected, kPrompts);
    rounded.add(bfloat16[i], expected, kPrompts);
    plain.add(plain_logits(model.layout, flat, prompt), expected, kPrompts);
    spread += expected.std().item<double>() / kPrompts;
  }
  std::printf(
      "of logits with deviation %.2g: float32 differs by %.2g at most; bfloat16 by %.2g in the "
      "mean "
      "and %.2g at most, operation by operation by %.2g and %.2g\n",
      spread, exact.worst, rounded.mean, rounded.worst, plain.mean, plain.worst);
  EXPECT_LT(exact.worst, 1e-4 * std::max(1.0, spread));
  EXPECT_LT(rounded.mean, 1.2 * plain.mean);
  EXPECT_LT(rounded.worst, 2 * plain.worst);
}

TEST_P(GenerationOnGpu, AnswersAreThoseOfTheCpu) {
  Model model(GetParam());
  const auto requests = mixed_requests();
  const Samples expected = model.on_cpu(requests);
  const Samples found = run(*model.generator(at::kFloat), requests);
  ASSERT_EQ(found.size(), expected.size());
  int same = 0, greedy = 0, same_greedy = 0;
  for (const auto& [key, sample] : expected) {
    const Sample& other = found.at(key);
    const bool equal = other.tokens == sample.tokens;
    same += equal ? 1 : 0;
    if (requests[key.first].options.temperature == 0) {
      ++greedy;
      same_greedy += equal ? 1 : 0;
    }
    if (!equal) continue;
    EXPECT_EQ(other.text, sample.text);
    EXPECT_EQ(other.stop_reason, sample.stop_reason);
    for (std::size_t t = 0; t < sample.tokens.size(); ++t) {
      EXPECT_NEAR(other.logprobs[t], sample.logprobs[t], 1e-3);
    }
  }
  std::printf("%d of %zu answers equal, greedy %d of %d\n", same, expected.size(), same_greedy,
              greedy);
  EXPECT_EQ(same_greedy, greedy);
  // A uniform number within rounding of the border between two tokens falls to either side.
  EXPECT_GE(same, static_cast<int>(expected.size()) - 2);
}

TEST_P(GenerationOnGpu, AloneAndInAFullBatchAreTheSameBits) {
  Model model(GetParam());
  const auto requests = mixed_requests();
  const auto generator = model.generator(at::kFloat, 32, 32);
  const Samples together = run(*generator, requests);
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}, std::size_t{17}, std::size_t{59}}) {
    const Samples alone = run(*generator, {requests[i]});
    for (const auto& [key, sample] : alone) {
      EXPECT_EQ(together.at({i, key.second}).tokens, sample.tokens);
      EXPECT_EQ(together.at({i, key.second}).logprobs, sample.logprobs);
    }
  }
}

TEST_P(GenerationOnGpu, BFloat16FollowsFloat32) {
  Model model(GetParam());
  const auto requests = mixed_requests();
  const auto generator = model.generator(at::kBFloat16);
  const Samples expected = model.on_cpu(requests), found = run(*generator, requests);
  std::size_t same_token = 0, tokens = 0, same_alone = 0;
  double error = 0;
  for (const auto& [key, sample] : expected) {
    const Sample& other = found.at(key);
    for (std::size_t t = 0; t < std::min(sample.tokens.size(), other.tokens.size()); ++t) {
      ++tokens;
      if (other.tokens[t] != sample.tokens[t]) break;  // from here on they are of other texts
      error += std::abs(other.logprobs[t] - sample.logprobs[t]);
      ++same_token;
    }
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    auto single = requests[i];
    single.samples = 1;
    same_alone += run(*generator, {single}).at({0, 0}).tokens == found.at({i, 0}).tokens ? 1u : 0u;
  }
  const double mean = error / static_cast<double>(same_token);
  std::printf(
      "%zu of %zu tokens as in float32 until the first other one, logprobs differ by %.3g; "
      "alone and in company the same: %zu of %zu\n",
      same_token, tokens, mean, same_alone, requests.size());
  EXPECT_LT(mean, 0.05);
  EXPECT_GT(same_token, tokens * 8 / 10);
}

INSTANTIATE_TEST_SUITE_P(Families, GenerationOnGpu,
                         ::testing::Values(Family::kLlama, Family::kQwen2, Family::kQwen3),
                         [](const auto& info) {
                           return std::string(info.param == Family::kLlama   ? "Llama"
                                              : info.param == Family::kQwen2 ? "Qwen2"
                                                                             : "Qwen3");
                         });

// 10^5 first tokens of one prompt against the probabilities, by chi-squared. Cells of less than 10
// expected draws are one.
class SamplingOnGpu : public ::testing::TestWithParam<SamplingOptions> {};

TEST_P(SamplingOnGpu, FollowsTheDistribution) {
  if (c10::cuda::device_count() == 0) GTEST_SKIP() << "skipped: no GPU";
  constexpr int kDraws = 100'000;
  Model model(Family::kLlama);
  auto asked = request(3, 20, kDraws, 1);
  asked.options = GetParam();
  const std::vector<float> logits = model.cpu_logits(asked.prompt);
  std::vector<double> weights;
  for (const float logit : logits) weights.push_back(std::exp(logit / asked.options.temperature));
  std::vector<std::size_t> order(logits.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](auto a, auto b) { return weights[a] > weights[b]; });
  const std::size_t most =
      asked.options.top_k > 0 ? static_cast<std::size_t>(asked.options.top_k) : order.size();
  double total = 0, kept = 0;
  for (std::size_t i = 0; i < most; ++i) total += weights[order[i]];
  std::vector<double> expected(logits.size());
  for (std::size_t i = 0; i < most && (i == 0 || kept < asked.options.top_p * total); ++i) {
    kept += expected[order[i]] = weights[order[i]];
  }
  std::vector<int> counts(logits.size());
  for (const auto& [key, sample] : run(*model.generator(at::kFloat, 1024), {asked})) {
    ++counts[static_cast<std::size_t>(sample.tokens.at(0))];
  }
  double chi_squared = 0, rest_expected = 0, rest_count = 0;
  int cells = 0;
  const auto add = [&](double mean, double count) {
    chi_squared += (count - mean) * (count - mean) / mean;
    ++cells;
  };
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double mean = kDraws * expected[i] / kept;
    if (mean == 0) {
      EXPECT_EQ(counts[i], 0) << i;
    } else if (mean < 10) {
      rest_expected += mean;
      rest_count += counts[i];
    } else {
      add(mean, counts[i]);
    }
  }
  if (rest_expected >= 10) add(rest_expected, rest_count);
  // Wilson and Hilferty's approximation of the quantile at p = 0.001.
  const double n = std::max(1, cells - 1);
  const double quantile = n * std::pow(1 - 2 / (9 * n) + 3.09 * std::sqrt(2 / (9 * n)), 3);
  std::printf("chi squared %.1f over %d cells, %.1f at p = 0.001\n", chi_squared, cells, quantile);
  EXPECT_LT(chi_squared, quantile);
  EXPECT_GE(cells, 5);
}

INSTANTIATE_TEST_SUITE_P(Options, SamplingOnGpu,
                         ::testing::Values(SamplingOptions{1, 1, 0}, SamplingOptions{0.7, 1, 0},
                                           SamplingOptions{1, 1, 12}, SamplingOptions{1, 0.8, 0},
                                           SamplingOptions{1.3, 0.9, 40}));

class CudaGeneratorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (c10::cuda::device_count() == 0) GTEST_SKIP() << "skipped: no GPU";
  }
};

TEST_F(CudaGeneratorTest, StopTextsEndIdsAndLengths) {
  Model model(Family::kLlama);
  const auto generator = model.generator(at::kFloat);
  const Sample whole = run(*generator, {request(1, 30)}).at({0, 0});
  ASSERT_GE(whole.tokens.size(), 8u);
  std::string bytes;
  for (std::size_t t = 0; t < 6; ++t) bytes += model.encoding.bytes(whole.tokens[t]);
  ASSERT_GE(bytes.size(), 3u);
  auto stopped = request(1, 30);
  stopped.stop = {"never in it", bytes.substr(bytes.size() - 2)};
  const Sample cut = run(*generator, {stopped}).at({0, 0});
  EXPECT_LE(cut.tokens.size(), 6u);
  EXPECT_EQ(cut.stop_reason, KRL_STOP_END);
  EXPECT_EQ(cut.text.find(to_utf8(stopped.stop[1])), std::string::npos);
  EXPECT_EQ(cut.tokens.size(), cut.logprobs.size());
  // An id that ends answers: one that the answer has.
  CudaGeneratorOptions options;
  TokenTexts texts = model.texts();
  texts.ends = {kEnd, whole.tokens[4]};
  const auto ending = make_cuda_generator(
      model.layout.config, model.parameters(model.on_gpu(at::kFloat)), texts, options);
  const Sample ended = run(*ending, {request(1, 30)}).at({0, 0});
  EXPECT_LE(ended.tokens.size(), 5u);
  EXPECT_EQ(ended.tokens.back(), whole.tokens[4]);
  EXPECT_EQ(ended.stop_reason, KRL_STOP_END);
  // The context ends an answer as well.
  const Sample long_one = run(*generator, {request(2, 250)}).at({0, 0});
  EXPECT_LE(long_one.tokens.size(), 6u);
}

TEST_F(CudaGeneratorTest, FewSlotsAndManyCallersChangeNothing) {
  Model model(Family::kQwen2);
  const auto requests = mixed_requests();
  const auto generator = model.generator(at::kFloat, 16, 16);
  const Samples expected = run(*generator, requests);
  std::vector<Samples> found(4);
  {
    std::vector<std::jthread> callers;
    for (Samples& samples : found) {
      callers.emplace_back([&] { samples = run(*generator, requests); });
    }
  }
  for (const Samples& samples : found) {
    ASSERT_EQ(samples.size(), expected.size());
    for (const auto& [key, sample] : samples) {
      EXPECT_EQ(sample.tokens, expected.at(key).tokens);
      EXPECT_EQ(sample.logprobs, expected.at(key).logprobs);
    }
  }
}

TEST_F(CudaGeneratorTest, OneCallerLeavesTheOthersStay) {
  Model model(Family::kLlama);
  const auto generator = model.generator(at::kFloat, 16, 16);
  const auto requests = mixed_requests();
  const Samples expected = run(*generator, requests);
  std::jthread leaving([&] {
    for (int i = 0; i < 3; ++i) {
      EXPECT_THROW(
          generator->run(
              requests, [](const GeneratedSample&) { throw std::runtime_error("enough"); }, [] {}),
          std::runtime_error);
    }
  });
  const Samples found = run(*generator, requests);
  for (const auto& [key, sample] : expected) EXPECT_EQ(found.at(key).tokens, sample.tokens);
}

TEST_F(CudaGeneratorTest, WeightsInPlaceAreThereAtTheNextCall) {
  Model model(Family::kQwen3);
  const at::Tensor weights = model.on_gpu(at::kFloat);
  const auto generator =
      make_cuda_generator(model.layout.config, model.parameters(weights), model.texts(), {});
  const auto requests = mixed_requests();
  const Samples before = run(*generator, requests);
  const at::Tensor old = weights.clone();
  weights.mul_(1.05);
  const Samples changed = run(*generator, requests);
  weights.copy_(old);
  generator->release();
  const Samples after = run(*generator, requests);
  int different = 0;
  for (const auto& [key, sample] : before) {
    different += changed.at(key).tokens != sample.tokens ? 1 : 0;
    EXPECT_EQ(after.at(key).tokens, sample.tokens);
  }
  EXPECT_GT(different, static_cast<int>(before.size()) / 2);
}

// Adapters on all matrices, and on some parts of fused ones.
TEST_F(CudaGeneratorTest, AdaptersAnswerAsOnTheCpu) {
  const std::vector<std::string> some = {"k_proj", "v_proj", "up_proj"};
  for (const auto& targets : {LoraOptions{}.targets, some}) {
    Model model(Family::kQwen2);
    const auto requests = mixed_requests();
    const Samples without = model.on_cpu(requests);
    const LoraOptions lora{.rank = 3, .alpha = 5, .targets = targets};
    WorkerThreads threads(1, [] {});
    Trainer trainer(model.layout, model.weights,
                    make_cuda_operations(model.layout.config, at::kFloat), {.lora = lora}, threads);
    TrainerState state = trainer.state();
    state.weights = at::tensor(model.adapt(*trainer.lora()));
    trainer.restore(state);
    const auto generator =
        make_cuda_generator(model.layout.config, trainer.parameters(), model.texts(), {});
    const Samples expected = model.on_cpu(requests), found = run(*generator, requests);
    int same = 0, changed = 0;
    for (const auto& [key, sample] : expected) {
      same += found.at(key).tokens == sample.tokens ? 1 : 0;
      changed += without.at(key).tokens != sample.tokens ? 1 : 0;
    }
    const auto all = static_cast<int>(expected.size());
    EXPECT_GE(same, all * 95 / 100);  // float32 on both sides: ties of a draw may fall otherwise
    EXPECT_GT(changed, all / 2);
  }
}

TEST_F(CudaGeneratorTest, DivergedWeightsAreAnError) {
  Model model(Family::kLlama);
  const at::Tensor weights = model.on_gpu(at::kBFloat16);
  const auto generator =
      make_cuda_generator(model.layout.config, model.parameters(weights), model.texts(), {});
  const at::Tensor old = weights.clone();
  weights.fill_(std::nan(""));
  EXPECT_THROW(run(*generator, {request(1, 10)}), Failure);
  weights.copy_(old);  // and the next call works
  EXPECT_EQ(run(*generator, {request(1, 10)}).size(), 1u);
}

}  // namespace
}  // namespace krl::libtorch
