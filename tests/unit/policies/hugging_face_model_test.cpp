// Hugging Face directories coming in: every number at its place, and nothing guessed.
#include "plugins/policies/libtorch/engine/hugging_face_model.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <kernelrl/values.hpp>
#include <nlohmann/json.hpp>

#include "plugins/files/file.hpp"
#include "plugins/policies/libtorch/model/hugging_face_names.hpp"
#include "plugins/policies/storage/safetensors.hpp"
#include "tests/unit/policies/temporary_directory.hpp"

namespace krl::libtorch {

using namespace policies;  // tokenizer, storage

namespace {

using nlohmann::json;

json small_config() {
  return {{"model_type", "llama"},         {"num_hidden_layers", 2},     {"hidden_size", 8},
          {"num_attention_heads", 2},      {"num_key_value_heads", 1},   {"intermediate_size", 12},
          {"max_position_embeddings", 64}, {"vocab_size", 10},           {"rms_norm_eps", 1e-6},
          {"rope_theta", 500000.0},        {"tie_word_embeddings", true}};
}

std::uint16_t to_bfloat16(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<std::uint16_t>(bits >> 16);
}

// A directory with weights 1, 2, 3, … in the order of the flat parameters (exact in bfloat16 below
// 256, and repeating there).
class HuggingFaceModelTest : public ::testing::Test {
 protected:
  static float weight(std::int64_t place) { return static_cast<float>(place % 256 + 1); }

  void write_config(const json& config) {
    config_ = config;
    files::write_file(directory_.path() / "config.json", {config.dump()});
  }

  ParameterLayout layout() const { return ParameterLayout(config_from_json(config_.dump(), "x")); }

  // The names whose position in the list is `share` modulo `shares`.
  std::vector<NamedRows> names(std::size_t share = 0, std::size_t shares = 1) const {
    std::vector<NamedRows> chosen;
    const auto all = hugging_face_names(layout());
    for (std::size_t i = share; i < all.size(); i += shares) chosen.push_back(all[i]);
    return chosen;
  }

  void write_tensors(const std::string& file, const std::vector<NamedRows>& names,
                     bool as_bfloat16 = false) {
    std::vector<std::vector<float>> floats;
    std::vector<std::vector<std::uint16_t>> halves;
    std::map<std::string, TensorView> views;
    for (const NamedRows& rows : names) {
      auto& values = floats.emplace_back();
      auto& bits = halves.emplace_back();
      for (std::int64_t i = 0; i < rows.size; ++i) {
        values.push_back(weight(rows.offset + i));
        bits.push_back(to_bfloat16(values.back()));
      }
      if (as_bfloat16) {
        views[rows.name] = {
            "BF16", rows.shape, {reinterpret_cast<const char*>(bits.data()), 2 * bits.size()}};
      } else {
        views[rows.name] = {
            "F32", rows.shape, {reinterpret_cast<const char*>(values.data()), 4 * values.size()}};
      }
    }
    write_safetensors(directory_.path() / file, views);
  }

  void expect_all_at_their_places() {
    const HuggingFaceModel model = load_hugging_face_model(directory_.path());
    const std::vector<float> weights = model.weights.floats();
    ASSERT_EQ(weights.size(), static_cast<std::size_t>(layout().total));
    for (std::size_t i = 0; i < weights.size(); ++i) {
      ASSERT_EQ(weights[i], weight(static_cast<std::int64_t>(i))) << i;
    }
  }

  std::string refusal() {
    try {
      load_hugging_face_model(directory_.path());
    } catch (const Failure& failure) {
      return failure.what();
    }
    return "accepted";
  }

  void expect_refused(const std::string& part) {
    const std::string why = refusal();
    EXPECT_NE(why.find(part), std::string::npos) << why;
  }

  krl::test::TemporaryDirectory directory_;
  json config_;
};

TEST_F(HuggingFaceModelTest, EveryFamilyIsReadWhole) {
  json qwen2 = small_config(), qwen3 = small_config(), untied = small_config();
  qwen2["model_type"] = "qwen2";
  qwen3["model_type"] = "qwen3";
  qwen3["head_dim"] = 6;
  untied["tie_word_embeddings"] = false;
  for (const json& config : {small_config(), qwen2, qwen3, untied}) {
    write_config(config);
    write_tensors("model.safetensors", names());
    expect_all_at_their_places();
    write_tensors("model.safetensors", names(), /*as_bfloat16=*/true);
    expect_all_at_their_places();
  }
}

TEST_F(HuggingFaceModelTest, ShardsAreReadByTheirIndex) {
  write_config(small_config());
  json map;
  for (const std::size_t share : {0, 1, 2}) {
    const std::string file = "model-0000" + std::to_string(share + 1) + "-of-00003.safetensors";
    write_tensors(file, names(share, 3));
    for (const NamedRows& rows : names(share, 3)) map[rows.name] = file;
  }
  files::write_file(directory_.path() / "model.safetensors.index.json",
                    {json{{"weight_map", map}}.dump()});
  expect_all_at_their_places();
}

TEST_F(HuggingFaceModelTest, AnIndexNamesNoFileElsewhere) {
  write_config(small_config());
  for (const char* file : {"../model.safetensors", "/etc/passwd", "", ".", "..", "a/b"}) {
    const json index = {{"weight_map", {{"model.norm.weight", file}}}};
    files::write_file(directory_.path() / "model.safetensors.index.json", {index.dump()});
    expect_refused("in no file of this directory");
  }
  files::write_file(directory_.path() / "model.safetensors.index.json", {"[1, 2"});
  expect_refused("weight_map");
}

TEST_F(HuggingFaceModelTest, AMissingTensorIsNamed) {
  write_config(small_config());
  auto some = names();
  some.pop_back();
  write_tensors("model.safetensors", some);
  expect_refused("no tensor 'model.norm.weight'");
}

TEST_F(HuggingFaceModelTest, AnUnknownTensorIsNamed) {
  write_config(small_config());
  auto more = names();
  more.push_back(more.back());
  more.back().name = "model.layers.7.mlp.up_proj.weight";
  write_tensors("model.safetensors", more);
  expect_refused("model.layers.7.mlp.up_proj.weight");
}

TEST_F(HuggingFaceModelTest, ACopyOfATiedMatrixIsNoTrouble) {
  write_config(small_config());
  auto more = names();
  more.push_back(more.front());
  more.back().name = "lm_head.weight";
  write_tensors("model.safetensors", more);
  expect_all_at_their_places();
}

TEST_F(HuggingFaceModelTest, AnotherShapeOrTypeIsRefused) {
  write_config(small_config());
  write_tensors("model.safetensors", names());
  json wider = small_config();
  wider["intermediate_size"] = 16;
  write_config(wider);
  expect_refused("mlp.down_proj.weight");
  const std::string bytes(8, '\0'), many(4096, '\0');
  write_safetensors(directory_.path() / "model.safetensors",
                    {{"model.norm.weight", {"I8", {8}, bytes}}, {"more", {"I8", {4096}, many}}});
  write_config(small_config());
  expect_refused("is of type I8");
}

// 65,536 layers of 2^24 × 5,592,402 would come to 2^25 numbers in 64 bits, and the second layer's
// to a place before the first.
TEST_F(HuggingFaceModelTest, SizesThatNoMemoryHoldsAreRefused) {
  json config = small_config();
  config.update({{"hidden_size", 1 << 24},
                 {"intermediate_size", 5592402},
                 {"num_hidden_layers", 65536},
                 {"num_attention_heads", 1},
                 {"head_dim", 2},
                 {"vocab_size", 1}});
  write_config(config);
  files::write_file(directory_.path() / "model.safetensors", {""});
  expect_refused("model.layers is 65536; it must be from 1 to 4096");
  config["num_hidden_layers"] = 4096;
  write_config(config);
  expect_refused("parameters; it may have 1099511627776");
  config["num_attention_heads"] = config["num_key_value_heads"] = 1 << 20;
  config["head_dim"] = 1 << 10;
  write_config(config);
  expect_refused("1073741824 numbers wide");
}

TEST_F(HuggingFaceModelTest, MemoryIsTakenForNoMoreThanTheFilesHold) {
  json config = small_config();
  config["vocab_size"] = 1 << 24;
  config["hidden_size"] = 1 << 14;  // a terabyte in float32
  write_config(config);
  files::write_file(directory_.path() / "model.safetensors", {std::string(100, 'x')});
  expect_refused("have 100 bytes, which are fewer");
}

TEST_F(HuggingFaceModelTest, WhatIsNotBuiltIsRefusedByName) {
  const std::vector<std::pair<std::string, json>> strange = {
      {"model_type", "gemma"},
      {"hidden_act", "gelu"},
      {"attention_bias", true},
      {"mlp_bias", true},
      {"use_sliding_window", true},
      {"quantization_config", {{"bits", 4}}},
      {"rope_scaling", {{"rope_type", "yarn"}, {"factor", 4}}},
      {"rope_scaling", {{"rope_type", 3}}},
      {"rms_norm_eps", 0},
      {"rope_theta", "large"},
      {"hidden_size", 8.5},
      {"num_hidden_layers", -1},
      {"head_dim", 3},
      {"num_key_value_heads", 3},
      {"tie_word_embeddings", "yes"}};
  for (const auto& [key, value] : strange) {
    json config = small_config();
    config[key] = value;
    write_config(config);
    const std::string why = refusal();
    EXPECT_NE(why.find("config.json"), std::string::npos) << key << ": " << why;
    EXPECT_EQ(why.find("no tensor"), std::string::npos) << key << ": " << why;
  }
}

TEST_F(HuggingFaceModelTest, ANewerConfigSaysItsAnglesInOneTable) {
  json config = small_config();
  config.erase("rope_theta");
  config["rope_parameters"] = {
      {"rope_type", "llama3"},   {"rope_theta", 250000.0},
      {"factor", 32.0},          {"low_freq_factor", 1.0},
      {"high_freq_factor", 4.0}, {"original_max_position_embeddings", 8192}};
  const ModelConfig read = config_from_json(config.dump(), "config.json");
  EXPECT_EQ(read.rope_theta, 250000.0);
  ASSERT_TRUE(read.rope_scaling);
  EXPECT_EQ(read.rope_scaling->factor, 32);
  const ModelConfig again = config_from_json(config_to_json(read), "config.json");
  EXPECT_EQ(again.rope_theta, 250000.0);
  ASSERT_TRUE(again.rope_scaling);
  EXPECT_EQ(again.rope_scaling->original_context, 8192);
}

}  // namespace
}  // namespace krl::libtorch
