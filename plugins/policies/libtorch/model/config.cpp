#include "plugins/policies/libtorch/model/config.hpp"

#include <algorithm>
#include <kernelrl/values.hpp>
#include <limits>
#include <nlohmann/json.hpp>

#include "plugins/policies/tokenizer/json_node.hpp"

namespace krl::libtorch {
namespace {

using policies::JsonNode;

// Far beyond any model. With at most so many layers of matrices with so many rows and columns the
// number of parameters is below 2^63.
constexpr std::int64_t kLargestDimension = std::int64_t{1} << 24;
constexpr std::int64_t kMostLayers = 4096;
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMostParameters = std::int64_t{1} << 40;

struct Dimension {
  const char* option;  // name in a plan, behind "model."
  const char* key;     // key in config.json
  std::int64_t ModelConfig::*value;
  std::int64_t largest = kLargestDimension;
};

constexpr Dimension kDimensions[] = {
    {"layers", "num_hidden_layers", &ModelConfig::layers, kMostLayers},
    {"hidden", "hidden_size", &ModelConfig::hidden},
    {"heads", "num_attention_heads", &ModelConfig::heads},
    {"kv_heads", "num_key_value_heads", &ModelConfig::kv_heads},
    {"ffn", "intermediate_size", &ModelConfig::ffn},
    {"context", "max_position_embeddings", &ModelConfig::context},
    {"vocabulary", "vocab_size", &ModelConfig::vocabulary},
};

struct FamilyName {
  Family family;
  const char* model_type;
  const char* architecture;
};

constexpr FamilyName kFamilies[] = {
    {Family::kLlama, "llama", "LlamaForCausalLM"},
    {Family::kQwen2, "qwen2", "Qwen2ForCausalLM"},
    {Family::kQwen3, "qwen3", "Qwen3ForCausalLM"},
};

const FamilyName& names_of(Family family) {
  return *std::find_if(std::begin(kFamilies), std::end(kFamilies),
                       [&](const FamilyName& name) { return name.family == family; });
}

double positive(const JsonNode& number) {
  if (!(number.number() > 0)) number.refuse("must be greater than 0");
  return number.number();
}

Family family_of(const JsonNode& type) {
  for (const FamilyName& name : kFamilies) {
    if (type.text() == name.model_type) return name.family;
  }
  type.refuse("is \"" + type.text() + "\"; this policy supports llama, qwen2 and qwen3");
}

// The angles are at the top level, or all in one table (transformers 5).
void read_rope(const JsonNode& file, ModelConfig& config) {
  auto rope = file.find("rope_parameters");
  if (!rope) rope = file.find("rope_scaling");
  auto theta = rope ? rope->find("rope_theta") : std::nullopt;
  if (!theta) theta = file.find("rope_theta");
  config.rope_theta = theta ? positive(*theta) : 10000.0;
  if (!rope) return;
  auto type = rope->find("rope_type");
  if (!type) type = rope->find("type");
  if (!type || type->text() == "default") return;
  if (type->text() != "llama3") {
    type->refuse("asks for \"" + type->text() +
                 "\"; this policy supports \"default\" and \"llama3\"");
  }
  config.rope_scaling =
      RopeScaling{positive(rope->get("factor")), positive(rope->get("low_freq_factor")),
                  positive(rope->get("high_freq_factor")),
                  rope->get("original_max_position_embeddings").integer(kLargestDimension)};
  if (config.rope_scaling->high_frequency_factor <= config.rope_scaling->low_frequency_factor ||
      config.rope_scaling->original_context < 1) {
    rope->refuse("has invalid factors or an invalid context");
  }
}

void refuse_unsupported(const JsonNode& file, const ModelConfig& config) {
  if (file.boolean_or("attention_bias", config.qkv_bias()) != config.qkv_bias())
    file.get("attention_bias").refuse("is not supported for this family");
  for (const char* key : {"mlp_bias", "use_sliding_window"}) {
    if (file.boolean_or(key, false)) file.get(key).refuse("is not supported");
  }
  if (const auto act = file.find("hidden_act"); act && act->text() != "silu")
    act->refuse("must be \"silu\"");
  if (const auto quantization = file.find("quantization_config"))
    quantization->refuse("is not supported; use the weights in bf16, fp16 or fp32");
}

ModelConfig read_config(const JsonNode& file) {
  ModelConfig config;
  config.family = family_of(file.get("model_type"));
  for (const Dimension& dimension : kDimensions)
    config.*dimension.value = file.get(dimension.key).integer(kMost);
  if (const auto size = file.find("head_dim")) config.head_dim = size->integer(kMost);
  if (config.head_dim == 0 && config.heads > 0 && config.hidden % config.heads != 0) {
    file.get("hidden_size")
        .refuse("is not a multiple of num_attention_heads, and there is no head_dim");
  }
  config.norm_epsilon = positive(file.get("rms_norm_eps"));
  config.tied = file.boolean_or("tie_word_embeddings", false);
  if (const auto scale = file.find("embedding_scale")) config.embedding_scale = positive(*scale);
  read_rope(file, config);
  refuse_unsupported(file, config);
  return config;
}

}  // namespace

const char* family_name(Family family) { return names_of(family).model_type; }

std::int64_t ModelConfig::parameters() const {
  const std::int64_t attention = hidden * qkv_width() + attention_width() * hidden;
  const std::int64_t extras = (qkv_bias() ? qkv_width() : 0) + (qk_norm() ? 2 * head_size() : 0);
  const std::int64_t feed_forward = 3 * hidden * ffn;
  const std::int64_t norms = 2 * hidden;
  return (tied ? 1 : 2) * vocabulary * hidden +
         layers * (attention + extras + feed_forward + norms) + hidden;
}

std::int64_t default_ffn(std::int64_t hidden) {
  return std::max<std::int64_t>(32, hidden * 8 / 3 / 32 * 32);
}

void check_config(const ModelConfig& config) {
  for (const auto& dimension : kDimensions) {
    const std::int64_t value = config.*dimension.value;
    if (value < 1 || value > dimension.largest) {
      invalid_argument("model." + std::string(dimension.option) + " is " + std::to_string(value) +
                       "; it must be from 1 to " + std::to_string(dimension.largest));
    }
  }
  if (config.head_dim < 0 || config.head_dim > kLargestDimension || config.head_dim % 2 != 0) {
    invalid_argument("the size of a head is " + std::to_string(config.head_dim) +
                     "; it must be even, because rotary embeddings turn pairs of numbers");
  }
  if (config.head_dim == 0 && config.hidden % (2 * config.heads) != 0) {
    invalid_argument("model.heads is " + std::to_string(config.heads) + "; model.hidden = " +
                     std::to_string(config.hidden) + " must be a multiple of 2 * model.heads = " +
                     std::to_string(2 * config.heads) +
                     ", because rotary embeddings turn pairs of numbers within a head");
  }
  if (config.heads % config.kv_heads != 0) {
    invalid_argument("model.kv_heads is " + std::to_string(config.kv_heads) +
                     "; it must divide model.heads = " + std::to_string(config.heads));
  }
  if (config.attention_width() > kLargestDimension) {
    invalid_argument("all heads together are " + std::to_string(config.attention_width()) +
                     " numbers wide; they may have " + std::to_string(kLargestDimension));
  }
  if (config.parameters() > kMostParameters) {
    invalid_argument("the model has " + std::to_string(config.parameters()) +
                     " parameters; it may have " + std::to_string(kMostParameters));
  }
}

std::vector<std::string> model_differences(const ModelConfig& wanted, const ModelConfig& found) {
  std::vector<std::string> differences;
  const auto compare = [&](const char* name, std::int64_t want, std::int64_t have) {
    if (want == have) return;
    differences.push_back(std::string(name) + " is " + std::to_string(have) + ", not " +
                          std::to_string(want));
  };
  for (const auto& dimension : kDimensions) {
    compare(dimension.option, wanted.*dimension.value, found.*dimension.value);
  }
  compare("head_dim", wanted.head_size(), found.head_size());
  if (wanted.family != found.family) differences.push_back("the model family differs");
  if (wanted.tied != found.tied) differences.push_back("tying of the output matrix differs");
  if (wanted.rope_theta != found.rope_theta || wanted.rope_scaling != found.rope_scaling) {
    differences.push_back("the rotary embedding differs");
  }
  if (wanted.norm_epsilon != found.norm_epsilon) {
    differences.push_back("the norm epsilon differs");
  }
  return differences;
}

std::string config_to_json(const ModelConfig& config) {
  const FamilyName& family = names_of(config.family);
  nlohmann::ordered_json json = {{"architectures", {family.architecture}},
                                 {"model_type", family.model_type},
                                 {"hidden_act", "silu"},
                                 {"tie_word_embeddings", config.tied},
                                 {"attention_bias", config.qkv_bias()},
                                 {"mlp_bias", false}};
  for (const auto& dimension : kDimensions) json[dimension.key] = config.*dimension.value;
  json["head_dim"] = config.head_size();
  json["rope_theta"] = config.rope_theta;
  if (config.rope_scaling) {
    const RopeScaling& scaling = *config.rope_scaling;
    json["rope_scaling"] = {{"rope_type", "llama3"},
                            {"factor", scaling.factor},
                            {"low_freq_factor", scaling.low_frequency_factor},
                            {"high_freq_factor", scaling.high_frequency_factor},
                            {"original_max_position_embeddings", scaling.original_context}};
  }
  json["rms_norm_eps"] = config.norm_epsilon;
  if (config.embedding_scale != 1) json["embedding_scale"] = config.embedding_scale;
  return json.dump(2) + "\n";
}

ModelConfig config_from_json(const std::string& text, const std::string& origin) {
  const nlohmann::json document = policies::parse_json(text, origin);
  const ModelConfig config = read_config(JsonNode(document, origin));
  try {
    check_config(config);
  } catch (const Failure& failure) {
    throw Failure(failure.code(), origin + ": " + failure.what());
  }
  return config;
}

}  // namespace krl::libtorch
