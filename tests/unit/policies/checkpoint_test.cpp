// Saving, loading and exporting.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "plugins/files/file.hpp"
#include "plugins/policies/libtorch/engine/local_policy.hpp"
#include "plugins/policies/libtorch/generation/decoder.hpp"
#include "plugins/policies/libtorch/model/parameters.hpp"
#include "plugins/policies/storage/safetensors.hpp"
#include "tests/unit/policies/recording_host.hpp"
#include "tests/unit/policies/temporary_directory.hpp"
#include "tests/unit/policies/tiny_model.hpp"

namespace krl::libtorch {

using namespace policies;  // tokenizer, storage

namespace {

using namespace krl::test;

class CheckpointTest : public ::testing::Test {
 protected:
  CheckpointTest() : policy_(tiny_options()) {}

  static void fit(TrainablePolicy& policy, std::uint64_t seed = 8) {
    RecordingContext context;
    const std::string text = "int i = blockIdx.x * blockDim.x + threadIdx.x;\nif (i < n)\n";
    const std::vector<krl_str> texts = {to_c(text), to_c(text)};
    policy.fit(texts, seed, context);
  }

  static std::vector<KeptSample> sample(TrainablePolicy& policy, std::uint64_t seed) {
    RecordingContext context;
    RequestList requests;
    requests.add({.prompt = "int i", .samples = 4, .max_tokens = 20, .seed = seed});
    SampleCollector collector;
    policy.sample(requests, collector, context);
    std::vector<KeptSample> samples;
    for (const auto& [key, s] : collector.samples) samples.push_back(s);
    return samples;
  }

  // One iteration: sample, learn in two steps with everything that a checkpoint must carry.
  static std::vector<KeptSample> iterate(TrainablePolicy& policy, std::uint64_t seed) {
    const std::vector<KeptSample> samples = sample(policy, seed);
    learn(policy, samples);
    learn(policy, samples);
    return samples;
  }

  static void learn(TrainablePolicy& policy, const std::vector<KeptSample>& samples) {
    RecordingContext context;
    ExampleList examples;
    for (const KeptSample& s : samples) {
      examples.add({s.prompt_tokens,
                    s.tokens,
                    s.logprobs,
                    std::vector<float>(s.tokens.size(), s.index % 2 ? 1.0f : -1.0f),
                    {}});
    }
    const LossSpec loss("ppo", 50, {{"kl", 0.1}, {"tis", 2}});
    policy.forward_backward(loss, examples, context);
    policy.optimizer_step(adamw(1e-2), context);
  }

  std::string path() const { return directory_.path().string(); }
  // A new directory beside.
  std::string path(const char* name) const {
    std::filesystem::create_directory(directory_.path() / name);
    return (directory_.path() / name).string();
  }

  // A policy of the weights that a policy from scratch begins with, by a seed.
  std::unique_ptr<LocalPolicy> of_directory(const char* name, const EngineOptions& options) {
    LocalPolicy scratch(tiny_options());
    fit(scratch, std::hash<std::string>()(name));
    EngineOptions from_there = options;
    from_there.directory = path(name);
    from_there.model.context = 0;  // the model's own
    from_there.threads = 2;
    scratch.export_weights(from_there.directory, "hf", context_);
    return std::make_unique<LocalPolicy>(from_there);
  }

  std::string refusal(TrainablePolicy& policy, krl_status code) {
    RecordingContext context;
    try {
      policy.load(path(), context);
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.code(), code) << failure.what();
      return failure.what();
    }
    return "accepted";
  }

  TemporaryDirectory directory_;
  LocalPolicy policy_;
  RecordingContext context_;
};

TEST_F(CheckpointTest, ContinuesBitForBit) {
  fit(policy_);
  const auto first = iterate(policy_, 1);
  learn(policy_, first);  // in the middle of an iteration: the sampling weights are kept as well
  policy_.save(path(), context_);
  LocalPolicy restored(tiny_options());
  restored.load(path(), context_);
  EXPECT_EQ(restored.describe().version, policy_.describe().version);
  EXPECT_FALSE(restored.describe().needs_corpus);
  learn(policy_, first);
  learn(restored, first);
  for (std::uint64_t seed = 2; seed < 5; ++seed) {
    EXPECT_EQ(iterate(policy_, seed), iterate(restored, seed));
  }
}

TEST_F(CheckpointTest, WithoutVocabulary) {
  policy_.save(path(), context_);
  LocalPolicy restored(tiny_options());
  restored.load(path(), context_);
  EXPECT_TRUE(restored.describe().needs_corpus);
}

TEST_F(CheckpointTest, AnotherShapeIsRefusedByName) {
  fit(policy_);
  policy_.save(path(), context_);
  EngineOptions other = tiny_options();
  other.model.layers = 3;
  other.dtype = "float64";
  LocalPolicy policy(other);
  const std::string why = refusal(policy, KRL_FAILED_PRECONDITION);
  EXPECT_NE(why.find("layers is 2, not 3"), std::string::npos);
  EXPECT_NE(why.find("dtype is float32, not float64"), std::string::npos);
  EXPECT_TRUE(policy.describe().needs_corpus);
}

// Of the same shape, and yet another function.
TEST_F(CheckpointTest, OtherAnglesAreRefusedByName) {
  fit(policy_);
  policy_.save(path(), context_);
  EngineOptions other = tiny_options();
  other.model.rope_theta = 500000;
  other.model.norm_epsilon = 1e-6;
  LocalPolicy policy(other);
  const std::string why = refusal(policy, KRL_FAILED_PRECONDITION);
  EXPECT_NE(why.find("the rotary embedding differs"), std::string::npos) << why;
  EXPECT_NE(why.find("the norm epsilon differs"), std::string::npos) << why;
}

// A checkpoint of as many steps as the policy has done, of other weights.
TEST_F(CheckpointTest, WhatSamplesIsWhatWasLoaded) {
  const auto one = of_directory("model", {}), other = of_directory("same", {});
  iterate(*one, 1);
  iterate(*other, 2);
  EXPECT_NE(sample(*one, 3), sample(*other, 3));
  other->save(path("checkpoint"), context_);
  one->load(path("checkpoint"), context_);
  EXPECT_EQ(sample(*one, 3), sample(*other, 3));
}

TEST_F(CheckpointTest, AdaptersAreRefusedBesideOtherWeights) {
  EngineOptions with_lora;
  with_lora.lora = LoraOptions{.rank = 2};
  const auto one = of_directory("one", with_lora), other = of_directory("other", with_lora);
  iterate(*one, 1);
  one->save(path(), context_);
  EXPECT_NE(refusal(*other, KRL_FAILED_PRECONDITION).find("for different weights"),
            std::string::npos);
  one->load(path(), context_);
}

TEST_F(CheckpointTest, DamageIsRefusedAndChangesNothing) {
  fit(policy_);
  policy_.save(path(), context_);
  const auto before = iterate(policy_, 3);
  const auto damage = [&](const char* file, const std::string& contents) {
    const auto target = directory_.path() / file;
    const std::string whole = files::read_file(target);
    files::write_file(target, {contents});
    LocalPolicy fresh(tiny_options());
    const std::string why = refusal(fresh, KRL_INVALID_ARGUMENT);
    EXPECT_NE(why.find(file), std::string::npos) << why;
    EXPECT_TRUE(fresh.describe().needs_corpus);
    files::write_file(target, {whole});
  };
  const std::string model = files::read_file(directory_.path() / "model.safetensors");
  damage("model.safetensors", model.substr(0, model.size() - 4));
  damage("model.safetensors", "");
  damage("optimizer.safetensors", model);
  damage("tokenizer.json", "{}");
  damage("config.json", "{\"model_type\": \"gpt\"}");
  damage("state.json", "{\"format\": 99}");
  damage("state.json", "[");
  std::filesystem::remove(directory_.path() / "optimizer.safetensors");
  LocalPolicy fresh(tiny_options());
  EXPECT_NE(refusal(fresh, KRL_NOT_FOUND).find("optimizer.safetensors"), std::string::npos);
}

TEST_F(CheckpointTest, AGradientThatWaitsIsNotLost) {
  fit(policy_);
  policy_.forward_backward(LossSpec("ppo", 1), ExampleList(), context_);
  EXPECT_THROW(policy_.save(path(), context_), Failure);
}

TEST_F(CheckpointTest, UnwritableDirectoryIsAnError) {
  fit(policy_);
  EXPECT_THROW(policy_.save(path() + "/missing", context_), Failure);
}

TEST_F(CheckpointTest, ExportsALlamaDirectory) {
  fit(policy_);
  policy_.export_weights(path(), "hf", context_);
  const auto config = nlohmann::json::parse(files::read_file(directory_.path() / "config.json"));
  EXPECT_EQ(config["architectures"][0], "LlamaForCausalLM");
  EXPECT_EQ(config["num_key_value_heads"], 2);
  EXPECT_EQ(config["tie_word_embeddings"], true);
  EXPECT_FALSE(config.contains("embedding_scale"));
  const std::int64_t vocabulary = config["vocab_size"];
  EXPECT_EQ(vocabulary, policy_.describe().vocabulary);
  const auto file = Safetensors::read(directory_.path() / "model.safetensors");
  EXPECT_EQ(file.tensors().size(), 2u + 2u * 9u);
  file.get("model.embed_tokens.weight", "F32", {vocabulary, 32});
  file.get("model.norm.weight", "F32", {32});
  for (const std::string layer : {"model.layers.0.", "model.layers.1."}) {
    file.get(layer + "self_attn.q_proj.weight", "F32", {32, 32});
    file.get(layer + "self_attn.k_proj.weight", "F32", {16, 32});
    file.get(layer + "self_attn.v_proj.weight", "F32", {16, 32});
    file.get(layer + "self_attn.o_proj.weight", "F32", {32, 32});
    file.get(layer + "mlp.gate_proj.weight", "F32", {64, 32});
    file.get(layer + "mlp.up_proj.weight", "F32", {64, 32});
    file.get(layer + "mlp.down_proj.weight", "F32", {32, 64});
    file.get(layer + "input_layernorm.weight", "F32", {32});
    file.get(layer + "post_attention_layernorm.weight", "F32", {32});
  }
  EXPECT_THROW(policy_.export_weights(path(), "gguf", context_), Failure);
}

// The exported tensors, put together again and computed without embedding_scale, as Llama would.
TEST_F(CheckpointTest, ExportedWeightsComputeTheSameFunction) {
  fit(policy_);
  iterate(policy_, 1);  // away from norms of one
  policy_.export_weights(path(), "hf", context_);
  const auto file = Safetensors::read(directory_.path() / "model.safetensors");
  ModelConfig config = tiny_options().model;
  config.vocabulary = policy_.describe().vocabulary;
  std::vector<float> flat;
  const auto append = [&](const std::string& name) {
    const std::string_view bytes = file.tensors().at(name).bytes;
    const std::size_t begin = flat.size();
    flat.resize(begin + bytes.size() / sizeof(float));
    std::memcpy(flat.data() + begin, bytes.data(), bytes.size());
  };
  append("model.embed_tokens.weight");
  for (const std::string layer : {"model.layers.0.", "model.layers.1."}) {
    for (const char* part : {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj",
                             "self_attn.o_proj", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"}) {
      append(layer + part + ".weight");
    }
  }
  for (const std::string layer : {"model.layers.0.", "model.layers.1."}) {
    append(layer + "input_layernorm.weight");
    append(layer + "post_attention_layernorm.weight");
  }
  append("model.norm.weight");
  DecoderWeights weights;
  pack_weights(ParameterLayout(config), flat, weights);

  ExampleList examples;
  examples.add({{1, 70, 71, 72, 2}, {80, 81, 3}});
  LogprobCollector collector;
  policy_.logprobs(1, examples, collector, context_);
  Decoder decoder(weights);
  KeyValueCache cache(config, 16);
  std::vector<std::int32_t> sequence = examples[0].prompt;
  sequence.insert(sequence.end(), examples[0].tokens.begin(), examples[0].tokens.end());
  for (std::int64_t i = 0; i + 1 < static_cast<std::int64_t>(sequence.size()); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const DecoderRow row{sequence[at], i, nullptr, 0, &cache, i};
    const auto logits = decoder.run({&row, 1}, 1);
    if (at + 1 < examples[0].prompt.size()) continue;
    double total = 0;
    for (const float logit : logits) total += std::exp(static_cast<double>(logit));
    const double logprob = logits[static_cast<std::size_t>(sequence[at + 1])] - std::log(total);
    EXPECT_NEAR(logprob, collector.logprobs[0][at + 1 - examples[0].prompt.size()], 1e-4);
  }
}

}  // namespace
}  // namespace krl::libtorch
