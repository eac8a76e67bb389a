#include "engine/hugging_face_export.hpp"

#include <nlohmann/json.hpp>

#include "model/hugging_face_names.hpp"
#include "storage/file.hpp"
#include "storage/safetensors.hpp"
#include "tokenizer/tokenizer_json.hpp"

namespace krl::libtorch {
namespace {

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

  std::map<std::string, TensorView> tensors;
  for (const NamedRows& rows : hugging_face_names(layout)) {
    tensors[rows.name] = {"F32",
                          rows.shape,
                          {reinterpret_cast<const char*>(scaled.data() + rows.offset),
                           static_cast<std::size_t>(rows.size) * sizeof(float)}};
  }
  write_safetensors(directory / "model.safetensors", tensors, {{"format", "pt"}});
  write_file(directory / "config.json", {model_config_json(layout.config)});
  write_file(directory / "tokenizer.json", {tokenizer_to_json(encoding)});
  write_file(directory / "tokenizer_config.json", {tokenizer_config_json(layout.config.context)});
  const nlohmann::ordered_json generation = {
      {"bos_token_id", kBeginToken}, {"eos_token_id", kEndToken}, {"pad_token_id", kPadToken}};
  write_file(directory / "generation_config.json", {generation.dump(2), "\n"});
  sync_directory(directory);
}

}  // namespace krl::libtorch
