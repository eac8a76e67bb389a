// Generation on the CPU by itself: kernels, random streams, drawing, and the invariance of a sample
// to what is computed beside it.
#include <gtest/gtest.h>

#include <cmath>
#include <kernelrl/values.hpp>
#include <map>
#include <random>

#include "plugins/policies/libtorch/base/random_stream.hpp"
#include "plugins/policies/libtorch/generation/generator.hpp"
#include "plugins/policies/libtorch/model/parameters.hpp"
#include "plugins/policies/tokenizer/scratch_tokenizer.hpp"

namespace krl::libtorch {

using namespace policies;  // tokenizer, storage

namespace {

std::vector<float> random_floats(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(n);
  for (float& value : values) value = normal(random);
  return values;
}

std::vector<const Kernels*> all_kernels() {
  std::vector<const Kernels*> all = {&portable_kernels()};
  if (cpu_has_avx2()) all.push_back(&avx2_kernels());
  return all;
}

TEST(Kernels, MultiplyEqualsDoublePrecision) {
  for (const Kernels* kernels : all_kernels()) {
    for (const auto& [rows, outputs, inputs] :
         {std::array<std::int64_t, 3>{1, 16, 8}, {7, 33, 20}, {64, 5, 3}, {13, 384, 128}}) {
      const auto in = random_floats(static_cast<std::size_t>(rows * inputs), 1);
      const auto weights = random_floats(static_cast<std::size_t>(outputs * inputs), 2);
      PackedMatrix packed;
      pack(weights.data(), outputs, inputs, packed);
      std::vector<float> out(static_cast<std::size_t>(rows * outputs), 1.0f);
      kernels->multiply(in.data(), rows, packed, out.data(), Store::kAdd);
      for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t c = 0; c < outputs; ++c) {
          double expected = 1;
          for (std::int64_t k = 0; k < inputs; ++k) {
            expected += static_cast<double>(in[static_cast<std::size_t>(r * inputs + k)]) *
                        weights[static_cast<std::size_t>(c * inputs + k)];
          }
          EXPECT_NEAR(out[static_cast<std::size_t>(r * outputs + c)], expected, 2e-4);
        }
      }
    }
  }
}

TEST(Kernels, MultiplyOfARowDoesNotDependOnOtherRows) {
  constexpr std::int64_t kRows = 23, kOutputs = 40, kInputs = 128;
  const auto in = random_floats(kRows * kInputs, 3), weights = random_floats(kOutputs * kInputs, 4);
  PackedMatrix packed;
  pack(weights.data(), kOutputs, kInputs, packed);
  for (const Kernels* kernels : all_kernels()) {
    std::vector<float> together(kRows * kOutputs), alone(kOutputs);
    kernels->multiply(in.data(), kRows, packed, together.data(), Store::kSet);
    for (std::int64_t row = 0; row < kRows; ++row) {
      kernels->multiply(in.data() + row * kInputs, 1, packed, alone.data(), Store::kSet);
      for (std::int64_t c = 0; c < kOutputs; ++c) {
        EXPECT_EQ(alone[static_cast<std::size_t>(c)],
                  together[static_cast<std::size_t>(row * kOutputs + c)]);
      }
    }
  }
}

TEST(Kernels, ExpSumIsWithinAFewUlps) {
  for (const Kernels* kernels : all_kernels()) {
    std::vector<float> x;
    for (float value = -80; value <= 0; value += 0.37f) x.push_back(value);
    std::vector<float> e = x;
    const double sum = kernels->exp_sum(e.data(), static_cast<std::int64_t>(e.size()), 0);
    double expected_sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double expected = std::exp(static_cast<double>(x[i]));
      expected_sum += expected;
      EXPECT_NEAR(e[i] / expected, 1, 1e-6) << x[i];
    }
    EXPECT_NEAR(sum / expected_sum, 1, 1e-6);
  }
}

// The known answers of Random123's kat_vectors for philox4x32-10.
TEST(RandomStream, PhiloxKnownAnswers) {
  using Block = std::array<std::uint32_t, 4>;
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// Counts of 10^5 draws against the expected ones; 9 degrees of freedom, p = 0.001 at 27.88.
TEST(TokenSampler, FollowsTheDistribution) {
  constexpr int kDraws = 100'000;
  const auto logits = random_floats(10, 5);
  const SamplingOptions options{0.7, 1.0, 0};
  std::vector<double> expected;
  double total = 0;
  for (const float logit : logits) total += expected.emplace_back(std::exp(logit / 0.7));
  TokenSampler sampler;
  std::vector<int> counts(10);
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const Draw draw = sampler.draw(logits, options, uniform(11, 0, i));
    ++counts[static_cast<std::size_t>(draw.token)];
    EXPECT_NEAR(draw.logprob, std::log(expected[static_cast<std::size_t>(draw.token)] / total),
                1e-5);
  }
  double chi_squared = 0;
  for (std::size_t i = 0; i < 10; ++i) {
    const double mean = kDraws * expected[i] / total;
    chi_squared += (counts[i] - mean) * (counts[i] - mean) / mean;
  }
  EXPECT_LT(chi_squared, 27.88);
}

TEST(TokenSampler, GreedyTopKAndTopP) {
  const std::vector<float> logits = {std::log(0.1f), std::log(0.4f), std::log(0.2f),
                                     std::log(0.3f)};
  TokenSampler sampler;
  const Draw greedy = sampler.draw(logits, {0.0, 1.0, 0}, 0.999);
  EXPECT_EQ(greedy.token, 1);
  EXPECT_NEAR(greedy.logprob, std::log(0.4), 1e-6);
  // Of the two likeliest, 0.4 and 0.3: 0.4 / 0.7 = 0.571 is the border.
  EXPECT_EQ(sampler.draw(logits, {1.0, 1.0, 2}, 0.57).token, 1);
  EXPECT_EQ(sampler.draw(logits, {1.0, 1.0, 2}, 0.58).token, 3);
  EXPECT_EQ(sampler.draw(logits, {1.0, 1.0, 2}, 0.9999).token, 3);
  // 0.4 + 0.3 reach 0.65; the logprob is still that of the whole distribution.
  const Draw nucleus = sampler.draw(logits, {1.0, 0.65, 0}, 0.9999);
  EXPECT_EQ(nucleus.token, 3);
  EXPECT_NEAR(nucleus.logprob, std::log(0.3), 1e-6);
  EXPECT_EQ(sampler.draw(logits, {1.0, 0.39, 0}, 0.9999).token, 1);
}

ModelConfig tiny_config() {
  ModelConfig config;
  config.layers = 2;
  config.hidden = 32;
  config.heads = 4;
  config.kv_heads = 2;
  config.ffn = 48;
  config.context = 160;
  config.vocabulary = kFirstMerge;
  config.embedding_scale = 4;
  return config;
}

class GeneratorTest : public ::testing::Test {
 protected:
  GeneratorTest() : layout_(tiny_config()) {
    auto flat = initial_weights(layout_, 5);
    for (float& weight : flat) weight *= 3;  // far from uniform predictions
    pack_weights(layout_, flat, weights_);
  }

  using Samples = std::map<std::pair<std::size_t, std::uint32_t>, GeneratedSample>;
  Samples generate(const std::vector<GenerationRequest>& requests, int threads = 1) {
    WorkerThreads workers(threads, [] {});
    Generator generator(weights_, texts(), workers);
    Samples samples;
    generator.run(
        requests,
        [&](const GeneratedSample& sample) {
          samples[{sample.request, sample.index}] = sample;
        },
        [] {});
    return samples;
  }

  GenerationRequest request(const std::string& text, std::uint32_t samples, std::uint64_t seed) {
    GenerationRequest r;
    r.prompt = {kBeginToken};
    for (const TokenId token : encoding_.encode(text)) r.prompt.push_back(token);
    r.prompt.push_back(kAnswerToken);
    r.samples = samples;
    r.max_tokens = 40;
    r.seed = seed;
    return r;
  }

  TokenTexts texts() const {
    return {[this](TokenId token) { return std::string_view(encoding_.bytes(token)); },
            {kEndToken}};
  }

  ParameterLayout layout_;
  DecoderWeights weights_;
  Tokenizer encoding_ = scratch_tokenizer({});
};

TEST_F(GeneratorTest, CachedStepsEqualFullRecomputation) {
  const auto samples = generate({request("cache", 3, 9)});
  Decoder decoder(weights_);
  TokenSampler sampler;
  for (const auto& [key, sample] : samples) {
    std::vector<TokenId> sequence = request("cache", 1, 9).prompt;
    for (std::size_t t = 0; t < sample.tokens.size(); ++t) {
      KeyValueCache cache(weights_.config, static_cast<std::int64_t>(sequence.size()));
      std::span<const float> logits;  // all tokens recomputed, one at a time
      for (std::size_t i = 0; i < sequence.size(); ++i) {
        const auto position = static_cast<std::int64_t>(i);
        const DecoderRow row{sequence[i], position, nullptr, 0, &cache, position};
        logits = decoder.run({&row, 1}, 1);
      }
      const Draw draw = sampler.draw(logits, {}, uniform(9, sample.index, t));
      ASSERT_EQ(draw.token, sample.tokens[t]);
      ASSERT_NEAR(draw.logprob, sample.logprobs[t], 1e-5);
      sequence.push_back(sample.tokens[t]);
    }
  }
}

TEST_F(GeneratorTest, NeighboursAndThreadsDoNotMatter) {
  const auto alone = generate({request("a prompt", 2, 42)});
  std::vector<GenerationRequest> crowd;
  for (std::uint64_t i = 0; i < 30; ++i)
    crowd.push_back(request("other " + std::to_string(i), 5, i));
  crowd.push_back(request("a prompt", 2, 42));
  for (const int threads : {1, 3}) {
    const auto among = generate(crowd, threads);
    ASSERT_EQ(among.size(), 152u);
    for (std::uint32_t k = 0; k < 2; ++k) {
      const GeneratedSample &a = alone.at({0, k}), &b = among.at({30, k});
      EXPECT_EQ(a.tokens, b.tokens);
      EXPECT_EQ(a.logprobs, b.logprobs);  // to the last bit
      EXPECT_EQ(a.text, b.text);
    }
  }
}

TEST_F(GeneratorTest, SamplesOfOneRequestDiffer) {
  const auto samples = generate({request("x", 2, 1)});
  EXPECT_NE(samples.at({0, 0}).tokens, samples.at({0, 1}).tokens);
}

TEST_F(GeneratorTest, EndsAtMaxTokensContextAndStopTexts) {
  auto few = request("x", 8, 3);
  few.max_tokens = 5;
  auto no_room = request(std::string(155, 'y'), 8, 3);  // 157 tokens of 160
  const auto samples = generate({few, no_room});
  for (std::uint32_t k = 0; k < 8; ++k) {
    const GeneratedSample &a = samples.at({0, k}), &b = samples.at({1, k});
    EXPECT_TRUE(a.tokens.size() == 5 || a.tokens.back() == kEndToken);
    EXPECT_TRUE(b.tokens.size() == 3 || b.tokens.back() == kEndToken);
    EXPECT_EQ(a.stop_reason, a.tokens.back() == kEndToken ? KRL_STOP_END : KRL_STOP_LENGTH);
  }
  // A text that the same seed is known to produce ends the answer, and is not part of its text.
  auto stopped = request("x", 1, 3);
  stopped.max_tokens = 40;
  const GeneratedSample whole = generate({stopped}).at({0, 0});
  std::string bytes;
  for (std::size_t t = 0; t < 4; ++t) bytes += encoding_.bytes(whole.tokens[t]);
  ASSERT_GE(bytes.size(), 2u);
  stopped.stop = {bytes.substr(bytes.size() - 2)};
  const GeneratedSample cut = generate({stopped}).at({0, 0});
  EXPECT_LE(cut.tokens.size(), 4u);
  EXPECT_EQ(cut.stop_reason, KRL_STOP_END);
  EXPECT_EQ(cut.text.find(to_utf8(stopped.stop[0])), std::string::npos);
}

TEST_F(GeneratorTest, DivergedWeightsAreAnErrorNotACrash) {
  for (float& gain : weights_.final_norm) gain = std::nanf("");
  EXPECT_THROW(generate({request("x", 1, 1)}), Failure);
}

TEST_F(GeneratorTest, WhatDeliveryThrowsEndsTheGeneration) {
  WorkerThreads workers(2, [] {});
  Generator generator(weights_, texts(), workers);
  const std::vector<GenerationRequest> requests = {request("x", 50, 1)};
  EXPECT_THROW(
      generator.run(
          requests, [](const GeneratedSample&) { throw std::runtime_error("full"); }, [] {}),
      std::runtime_error);
  std::size_t delivered = 0;  // and the next one works
  generator.run(
      requests, [&](const GeneratedSample&) { ++delivered; }, [] {});
  EXPECT_EQ(delivered, 50u);
}

TEST_F(GeneratorTest, RequestsThatComeLaterAreNumberedOn) {
  WorkerThreads workers(1, [] {});
  Generator generator(weights_, texts(), workers);
  const std::vector<GenerationRequest> all = {request("a", 2, 1), request("b", 1, 2),
                                              request("c", 3, 3)};
  std::size_t given = 0;
  Samples found;
  generator.run_stream(
      [&](bool wait) -> std::optional<GenerationRequest> {
        // The first two together, the third when they are answered.
        if (given == all.size() || (!wait && given == 2)) return std::nullopt;
        return all[given++];
      },
      [&](const GeneratedSample& sample) {
        EXPECT_EQ(given, sample.request < 2 ? 2u : 3u);
        found[{sample.request, sample.index}] = sample;
      },
      [] {});
  const Samples expected = generate(all);
  ASSERT_EQ(found.size(), 6u);
  for (const auto& [key, sample] : expected) EXPECT_EQ(found.at(key).tokens, sample.tokens);
}

TEST_F(GeneratorTest, NoRequestsAndNoSamplesAreFine) {
  EXPECT_TRUE(generate({}).empty());
  EXPECT_TRUE(generate({request("x", 0, 1)}).empty());
}

TEST_F(GeneratorTest, RequestsAreChecked) {
  ModelConfig config;
  config.context = 160;
  config.vocabulary = 300;
  const auto refusal = [&](const std::function<void(GenerationRequest&)>& change) {
    auto r = request("x", 1, 1);
    change(r);
    try {
      check_request(r, config);
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.code(), KRL_INVALID_ARGUMENT);
      return std::string(failure.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(refusal([](auto&) {}), "accepted");
  const auto too_long = refusal([](auto& r) { r.prompt.assign(160, 5); });
  EXPECT_NE(too_long.find("the prompt has 160 tokens"), std::string::npos);
  EXPECT_NE(too_long.find("model.context"), std::string::npos);
  EXPECT_EQ(refusal([](auto& r) { r.prompt.clear(); }), "the prompt has no tokens");
  EXPECT_EQ(refusal([](auto& r) {
              r.prompt = {1, 300};
            }),
            "token 300 of the prompt is outside the vocabulary of 300");
  EXPECT_NE(refusal([](auto& r) { r.prompt = {-1}; }).find("token -1"), std::string::npos);
  EXPECT_NE(refusal([](auto& r) { r.max_tokens = 0; }).find("max_tokens"), std::string::npos);
  EXPECT_NE(refusal([](auto& r) { r.options.temperature = NAN; }).find("temperature"),
            std::string::npos);
  EXPECT_NE(refusal([](auto& r) { r.options.top_p = 0; }).find("top_p"), std::string::npos);
}

}  // namespace
}  // namespace krl::libtorch
