#include "engine/hugging_face_export.hpp"

#include <nlohmann/json.hpp>

#include "storage/file.hpp"
#include "storage/safetensors.hpp"
#include "tokenizer/tokenizer_json.hpp"

namespace krl::libtorch {
namespace {

// Collects tensors under Hugging Face's names: views into the flat weights.
class TensorTable {
 public:
  TensorTable(const ParameterLayout& layout, std::span<const float> weights)
      : layout_(layout), weights_(weights) {}

  // `rows` rows of a parameter from row `first` on; a vector counts as rows of one number.
  void add(const std::string& name, std::size_t slot, std::int64_t first, std::int64_t rows) {
    const ParameterSlot& parameter = layout_.slots[slot];
    const std::int64_t width = parameter.size / parameter.shape[0];
    std::vector<std::int64_t> shape = parameter.shape;
    shape[0] = rows;
    const float* begin = weights_.data() + parameter.offset + first * width;
    tensors_[name] = {"F32",
                      std::move(shape),
                      {reinterpret_cast<const char*>(begin),
                       static_cast<std::size_t>(rows * width) * sizeof(float)}};
  }
  void add(const std::string& name, std::size_t slot) {
    add(name, slot, 0, layout_.slots[slot].shape[0]);
  }

  const std::map<std::string, TensorView>& tensors() const { return tensors_; }

 private:
  const ParameterLayout& layout_;
  std::span<const float> weights_;
  std::map<std::string, TensorView> tensors_;
};

void add_layer(TensorTable& table, const ParameterLayout& layout, std::int64_t layer) {
  const ModelConfig& config = layout.config;
  const std::string prefix = "model.layers." + std::to_string(layer) + ".";
  const std::int64_t kv_width = config.kv_heads * config.head_size();
  table.add(prefix + "self_attn.q_proj.weight", layout.qkv(layer), 0, config.hidden);
  table.add(prefix + "self_attn.k_proj.weight", layout.qkv(layer), config.hidden, kv_width);
  table.add(prefix + "self_attn.v_proj.weight", layout.qkv(layer), config.hidden + kv_width,
            kv_width);
  table.add(prefix + "self_attn.o_proj.weight", layout.attention_out(layer));
  table.add(prefix + "mlp.gate_proj.weight", layout.gate_up(layer), 0, config.ffn);
  table.add(prefix + "mlp.up_proj.weight", layout.gate_up(layer), config.ffn, config.ffn);
  table.add(prefix + "mlp.down_proj.weight", layout.down(layer));
  table.add(prefix + "input_layernorm.weight", layout.attention_norm(layer));
  table.add(prefix + "post_attention_layernorm.weight", layout.ffn_norm(layer));
}

void scale(std::vector<float>& weights, const ParameterSlot& slot, double factor) {
  for (std::int64_t i = 0; i < slot.size; ++i) {
    float& weight = weights[static_cast<std::size_t>(slot.offset + i)];
    weight = static_cast<float>(weight * factor);
  }
}

std::string model_config_json(const ModelConfig& config) {
  auto json = nlohmann::ordered_json::parse(config_to_json(config));
  json.erase("embedding_scale");
  json["torch_dtype"] = "float32";
  json["bos_token_id"] = kBeginToken;
  json["eos_token_id"] = kEndToken;
  json["pad_token_id"] = kPadToken;
  return json.dump(2) + "\n";
}

}  // namespace

void export_hugging_face(const std::filesystem::path& directory, const ParameterLayout& layout,
                         std::span<const float> weights, const BytePairEncoding& encoding) {
  std::vector<float> scaled(weights.begin(), weights.end());
  scale(scaled, layout.slots[layout.embedding()], layout.config.embedding_scale);
  scale(scaled, layout.slots[layout.final_norm()], 1 / layout.config.embedding_scale);

  TensorTable table(layout, scaled);
  table.add("model.embed_tokens.weight", layout.embedding());
  for (std::int64_t layer = 0; layer < layout.config.layers; ++layer) {
    add_layer(table, layout, layer);
  }
  table.add("model.norm.weight", layout.final_norm());

  write_safetensors(directory / "model.safetensors", table.tensors(), {{"format", "pt"}});
  write_file(directory / "config.json", {model_config_json(layout.config)});
  write_file(directory / "tokenizer.json", {tokenizer_to_json(encoding)});
  write_file(directory / "tokenizer_config.json", {tokenizer_config_json(layout.config.context)});
  const nlohmann::ordered_json generation = {
      {"bos_token_id", kBeginToken}, {"eos_token_id", kEndToken}, {"pad_token_id", kPadToken}};
  write_file(directory / "generation_config.json", {generation.dump(2), "\n"});
  sync_directory(directory);
}

}  // namespace krl::libtorch
