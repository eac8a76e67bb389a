// The shape of a decoder of the Llama, Qwen2 or Qwen3 family. Plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace krl::libtorch {

// Additions of a block to Llama's: Qwen2 adds a bias to queries, keys and values; Qwen3 normalises
// every head of the queries and keys before it is rotated.
enum class Family { kLlama, kQwen2, kQwen3 };

// Returns the name in `config.json`: "llama", "qwen2", "qwen3".
const char* family_name(Family family);

// Stretches the rotary embedding beyond the context it was first trained with, as in Llama 3.1:
// frequencies of long wave lengths are divided by `factor`, those of short ones stay, and between
// the two bounds they are interpolated ("rope_type": "llama3").
struct RopeScaling {
  double factor = 8, low_frequency_factor = 1, high_frequency_factor = 4;
  std::int64_t original_context = 8192;
  bool operator==(const RopeScaling&) const = default;
};

struct ModelConfig {
  Family family = Family::kLlama;
  std::int64_t layers = 4;
  std::int64_t hidden = 128;
  std::int64_t heads = 4;      // heads of queries
  std::int64_t kv_heads = 4;   // heads of keys and values; divides `heads`
  std::int64_t ffn = 320;      // width of the gated feed-forward layer
  std::int64_t context = 512;  // the most tokens of a prompt and its answer together
  std::int64_t vocabulary = 512;
  std::int64_t head_dim = 0;  // numbers of a head; 0 = hidden / heads
  double rope_theta = 10000.0;
  std::optional<RopeScaling> rope_scaling = std::nullopt;
  double norm_epsilon = 1e-5;
  bool tied = true;  // the embedding is also the output matrix
  // Input embeddings are multiplied by it; 1 except for models from scratch. Their embedding, which
  // is also the output matrix, starts small so that the first predictions are near uniform; √hidden
  // brings its inputs back to 1.
  double embedding_scale = 1.0;

  bool qkv_bias() const { return family == Family::kQwen2; }
  bool qk_norm() const { return family == Family::kQwen3; }
  std::int64_t head_size() const { return head_dim > 0 ? head_dim : hidden / heads; }
  // Returns the width of all heads of the queries, and of attention's output.
  std::int64_t attention_width() const { return heads * head_size(); }
  std::int64_t kv_width() const { return kv_heads * head_size(); }
  std::int64_t qkv_width() const { return attention_width() + 2 * kv_width(); }
  std::int64_t parameters() const;
};

// Returns the width with which the gated layer has about as many parameters as a plain one of 4 ×
// hidden: 8/3 × hidden (Shazeer, "GLU Variants Improve Transformer", 2020), rounded down to a
// multiple of 32, at least 32.
std::int64_t default_ffn(std::int64_t hidden);

// Checks of a model's shape that the ranges of single options cannot express.
// Throws krl::Failure (KRL_INVALID_ARGUMENT) that names the option.
void check_config(const ModelConfig& config);

// Lists the differences that keep weights of `found` from a model of `wanted`, one text each, such
// as "layers is 2, not 4"; empty if they fit. embedding_scale follows from the sizes.
std::vector<std::string> model_differences(const ModelConfig& wanted, const ModelConfig& found);

// Convert to and from JSON with the keys of a Hugging Face `config.json` of these families and, if
// it is not 1, one of our own, `embedding_scale`. Reading throws krl::Failure
// (KRL_INVALID_ARGUMENT) that names a key which is missing, out of its range, or asks for something
// that is not supported (another activation, a sliding window, …): nothing is approximated.
// `origin` names the source of the text in the message.
std::string config_to_json(const ModelConfig& config);
ModelConfig config_from_json(const std::string& text, const std::string& origin);

}  // namespace krl::libtorch
