#include "model/config.hpp"

#include <algorithm>
#include <kernelrl/values.hpp>
#include <nlohmann/json.hpp>

namespace krl::libtorch {
namespace {

// Far beyond any model; keeps products of two dimensions inside 64 bits.
constexpr std::int64_t kLargestDimension = std::int64_t{1} << 24;

struct Dimension {
  const char* option;  // in a plan, behind "model."
  const char* key;     // in config.json
  std::int64_t ModelConfig::*value;
};

constexpr Dimension kDimensions[] = {
    {"layers", "num_hidden_layers", &ModelConfig::layers},
    {"hidden", "hidden_size", &ModelConfig::hidden},
    {"heads", "num_attention_heads", &ModelConfig::heads},
    {"kv_heads", "num_key_value_heads", &ModelConfig::kv_heads},
    {"ffn", "intermediate_size", &ModelConfig::ffn},
    {"context", "max_position_embeddings", &ModelConfig::context},
    {"vocabulary", "vocab_size", &ModelConfig::vocabulary},
};

template <class T>
T read(const nlohmann::json& json, const char* key, const std::string& origin) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number()) {
    throw Failure(KRL_INVALID_ARGUMENT, origin + ": the number '" + key + "' is missing");
  }
  return found->get<T>();
}

double read_positive(const nlohmann::json& json, const char* key, const std::string& origin) {
  const double value = read<double>(json, key, origin);
  if (!(value > 0)) {
    throw Failure(KRL_INVALID_ARGUMENT, origin + ": '" + key + "' must be greater than 0");
  }
  return value;
}

}  // namespace

std::int64_t ModelConfig::parameters() const {
  const std::int64_t attention = hidden * qkv_width() + hidden * hidden;
  const std::int64_t feed_forward = 3 * hidden * ffn;
  const std::int64_t norms = 2 * hidden;
  return vocabulary * hidden + layers * (attention + feed_forward + norms) + hidden;
}

std::int64_t default_ffn(std::int64_t hidden) {
  return std::max<std::int64_t>(32, hidden * 8 / 3 / 32 * 32);
}

void check_config(const ModelConfig& config) {
  for (const auto& dimension : kDimensions) {
    const std::int64_t value = config.*dimension.value;
    if (value < 1 || value > kLargestDimension) {
      invalid_argument("model." + std::string(dimension.option) + " is " + std::to_string(value) +
                       "; it must be from 1 to " + std::to_string(kLargestDimension));
    }
  }
  if (config.hidden % (2 * config.heads) != 0) {
    invalid_argument(
        "model.hidden is " + std::to_string(config.hidden) +
        "; it must be a multiple of 2 * model.heads = " + std::to_string(2 * config.heads) +
        ", because rotary embeddings turn pairs of numbers within a head");
  }
  if (config.heads % config.kv_heads != 0) {
    invalid_argument("model.kv_heads is " + std::to_string(config.kv_heads) +
                     "; it must divide model.heads = " + std::to_string(config.heads));
  }
}

std::vector<std::string> shape_differences(const ModelConfig& wanted, const ModelConfig& found) {
  std::vector<std::string> differences;
  for (const auto& dimension : kDimensions) {
    const std::int64_t want = wanted.*dimension.value, have = found.*dimension.value;
    if (want != have) {
      differences.push_back(std::string(dimension.option) + " is " + std::to_string(have) +
                            ", not " + std::to_string(want));
    }
  }
  return differences;
}

std::string config_to_json(const ModelConfig& config) {
  nlohmann::ordered_json json = {
      {"architectures", {"LlamaForCausalLM"}}, {"model_type", "llama"},   {"hidden_act", "silu"},
      {"tie_word_embeddings", true},           {"attention_bias", false}, {"mlp_bias", false}};
  for (const auto& dimension : kDimensions) json[dimension.key] = config.*dimension.value;
  json["head_dim"] = config.head_size();
  json["rope_theta"] = config.rope_theta;
  json["rms_norm_eps"] = config.norm_epsilon;
  json["embedding_scale"] = config.embedding_scale;
  return json.dump(2) + "\n";
}

ModelConfig config_from_json(const std::string& text, const std::string& origin) {
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) throw Failure(KRL_INVALID_ARGUMENT, origin + ": not a JSON object");
  if (json.value("model_type", "") != "llama") {
    throw Failure(KRL_INVALID_ARGUMENT, origin + ": 'model_type' must be \"llama\"");
  }
  ModelConfig config;
  for (const auto& dimension : kDimensions) {
    config.*dimension.value = read<std::int64_t>(json, dimension.key, origin);
  }
  config.rope_theta = read_positive(json, "rope_theta", origin);
  config.norm_epsilon = read_positive(json, "rms_norm_eps", origin);
  config.embedding_scale = read_positive(json, "embedding_scale", origin);
  try {
    check_config(config);
  } catch (const Failure& failure) {
    throw Failure(failure.code(), origin + ": " + failure.what());
  }
  return config;
}

}  // namespace krl::libtorch
