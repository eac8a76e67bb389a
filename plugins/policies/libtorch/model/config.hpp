// The shape of a decoder of the Llama family. Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace krl::libtorch {

struct ModelConfig {
  std::int64_t layers = 4;
  std::int64_t hidden = 128;
  std::int64_t heads = 4;      // of queries; `hidden` is a multiple of it
  std::int64_t kv_heads = 4;   // of keys and values; divides `heads`
  std::int64_t ffn = 320;      // width of the gated feed-forward layer
  std::int64_t context = 512;  // the most tokens of a prompt and its answer together
  std::int64_t vocabulary = 512;
  double rope_theta = 10000.0;
  double norm_epsilon = 1e-5;
  // Input embeddings are multiplied by it. The embedding, which is also the output matrix, starts
  // small so that the first predictions are near uniform; √hidden brings its inputs back to 1.
  double embedding_scale = 1.0;

  std::int64_t head_size() const { return hidden / heads; }
  std::int64_t qkv_width() const { return (heads + 2 * kv_heads) * head_size(); }
  std::int64_t parameters() const;
};

// The width that gives the gated layer about as many parameters as a plain one of 4 × hidden:
// 8/3 × hidden (Shazeer, "GLU Variants Improve Transformer", 2020), rounded down to a multiple of
// 32, at least 32.
std::int64_t default_ffn(std::int64_t hidden);

// What the shape of a model needs, as far as the ranges of single options cannot say it.
// Throws krl::Failure (KRL_INVALID_ARGUMENT) that names the option.
void check_config(const ModelConfig& config);

// The differences that keep weights of `found` from a model of `wanted`, one text each, such as
// "layers is 2, not 4"; empty if they fit.
std::vector<std::string> shape_differences(const ModelConfig& wanted, const ModelConfig& found);

// JSON with the keys of a Hugging Face `config.json` of the Llama family and one of our own,
// `embedding_scale`. Throws krl::Failure naming the key that is missing or out of its range;
// `origin` says in the message where the text came from.
std::string config_to_json(const ModelConfig& config);
ModelConfig config_from_json(const std::string& text, const std::string& origin);

}  // namespace krl::libtorch
