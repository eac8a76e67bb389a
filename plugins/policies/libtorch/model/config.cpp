#include "plugins/policies/libtorch/model/config.hpp"

#include <algorithm>
#include <kernelrl/values.hpp>
#include <nlohmann/json.hpp>

namespace krl::libtorch {
namespace {

using Json = nlohmann::json;

// Far beyond any model. With at most so many layers of matrices with so many rows and columns the
// number of parameters is below 2^63.
constexpr std::int64_t kLargestDimension = std::int64_t{1} << 24;
constexpr std::int64_t kMostLayers = 4096;
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

// Reads one config.json; every refusal names the file and the key.
class ConfigReader {
 public:
  ConfigReader(const Json& json, const std::string& origin) : json_(json), origin_(origin) {}

  ModelConfig read() const {
    ModelConfig config;
    config.family = family();
    for (const Dimension& dimension : kDimensions) {
      config.*dimension.value = whole(json_, dimension.key);
    }
    if (present("head_dim")) config.head_dim = whole(json_, "head_dim");
    if (config.head_dim == 0 && config.heads > 0 && config.hidden % config.heads != 0) {
      refuse("hidden_size", "is not a multiple of num_attention_heads, and there is no head_dim");
    }
    config.norm_epsilon = positive(json_, "rms_norm_eps");
    config.tied = flag("tie_word_embeddings", /*otherwise=*/false);
    if (present("embedding_scale")) config.embedding_scale = positive(json_, "embedding_scale");
    read_rope(config);
    refuse_unsupported(config);
    return config;
  }

 private:
  [[noreturn]] void refuse(const std::string& key, const std::string& why) const {
    throw Failure(KRL_INVALID_ARGUMENT, origin_ + ": '" + key + "' " + why);
  }

  bool present(const char* key) const {
    const auto found = json_.find(key);
    return found != json_.end() && !found->is_null();
  }

  std::int64_t whole(const Json& json, const char* key) const {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_number_integer()) {
      refuse(key, "is missing or not an integer");
    }
    return found->get<std::int64_t>();
  }

  double positive(const Json& json, const char* key) const {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_number()) refuse(key, "is missing or not a number");
    const double value = found->get<double>();
    if (!(value > 0)) refuse(key, "must be greater than 0");
    return value;
  }

  bool flag(const char* key, bool otherwise) const {
    if (!present(key)) return otherwise;
    if (!json_[key].is_boolean()) refuse(key, "must be true or false");
    return json_[key].get<bool>();
  }

  Family family() const {
    const auto found = json_.find("model_type");
    const std::string type =
        found != json_.end() && found->is_string() ? found->get<std::string>() : "";
    for (const FamilyName& name : kFamilies) {
      if (type == name.model_type) return name.family;
    }
    refuse("model_type", "is \"" + type + "\"; this policy supports llama, qwen2 and qwen3");
  }

  // The angles are at the top level, or all in one table (transformers 5).
  void read_rope(ModelConfig& config) const {
    const char* table = present("rope_parameters") ? "rope_parameters" : "rope_scaling";
    const Json rope = present(table) ? json_[table] : Json::object();
    if (!rope.is_object()) refuse(table, "must be an object");
    config.rope_theta = rope.contains("rope_theta")    ? positive(rope, "rope_theta")
                        : json_.contains("rope_theta") ? positive(json_, "rope_theta")
                                                       : 10000.0;
    const auto named = rope.contains("rope_type") ? rope["rope_type"] : rope.value("type", Json());
    if (named.is_null()) return;
    const std::string type = named.is_string() ? named.get<std::string>() : named.dump();
    if (type == "default") return;
    if (type != "llama3") {
      refuse(table, "asks for \"" + type + "\"; this policy supports \"default\" and \"llama3\"");
    }
    config.rope_scaling = RopeScaling{positive(rope, "factor"), positive(rope, "low_freq_factor"),
                                      positive(rope, "high_freq_factor"),
                                      whole(rope, "original_max_position_embeddings")};
    if (config.rope_scaling->high_frequency_factor <= config.rope_scaling->low_frequency_factor ||
        config.rope_scaling->original_context < 1) {
      refuse(table, "has invalid factors or an invalid context");
    }
  }

  void refuse_unsupported(const ModelConfig& config) const {
    const bool bias = flag("attention_bias", config.qkv_bias());
    if (bias != config.qkv_bias()) refuse("attention_bias", "is not supported for this family");
    if (flag("mlp_bias", false)) refuse("mlp_bias", "is not supported");
    if (flag("use_sliding_window", false)) refuse("use_sliding_window", "is not supported");
    if (present("hidden_act") && json_["hidden_act"] != "silu") {
      refuse("hidden_act", "must be \"silu\"");
    }
    if (present("quantization_config")) {
      refuse("quantization_config", "is not supported; use the weights in bf16, fp16 or fp32");
    }
  }

  const Json& json_;
  const std::string& origin_;
};

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
  const auto json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) throw Failure(KRL_INVALID_ARGUMENT, origin + ": not a JSON object");
  const ModelConfig config = ConfigReader(json, origin).read();
  try {
    check_config(config);
  } catch (const Failure& failure) {
    throw Failure(failure.code(), origin + ": " + failure.what());
  }
  return config;
}

}  // namespace krl::libtorch
