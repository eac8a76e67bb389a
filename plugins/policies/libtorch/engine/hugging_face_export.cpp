#include "plugins/policies/libtorch/engine/hugging_face_export.hpp"

#include <cstring>
#include <nlohmann/json.hpp>

#include "plugins/files/file.hpp"
#include "plugins/policies/libtorch/model/hugging_face_names.hpp"
#include "plugins/policies/storage/safetensors.hpp"

namespace krl::libtorch {

using namespace policies;  // tokenizer, storage

namespace {

void scale(std::vector<float>& weights, const ParameterSlot& slot, double factor) {
  for (std::int64_t i = 0; i < slot.size; ++i) {
    float& weight = weights[static_cast<std::size_t>(slot.offset + i)];
    weight = static_cast<float>(weight * factor);
  }
}

std::vector<std::uint16_t> to_bfloat16(const std::vector<float>& values) {
  std::vector<std::uint16_t> rounded;
  rounded.reserve(values.size());
  for (const float value : values) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    bits += 0x7fff + (bits >> 16 & 1);  // rounds to nearest, ties to even; weights are finite
    rounded.push_back(static_cast<std::uint16_t>(bits >> 16));
  }
  return rounded;
}

void write_weights(const std::filesystem::path& path, const ParameterLayout& layout,
                   const char* type, const char* bytes, std::size_t element) {
  std::map<std::string, TensorView> tensors;
  for (const NamedRows& rows : hugging_face_names(layout)) {
    tensors[rows.name] = {type,
                          rows.shape,
                          {bytes + static_cast<std::size_t>(rows.offset) * element,
                           static_cast<std::size_t>(rows.size) * element}};
  }
  write_safetensors(path, tensors, {{"format", "pt"}});
}

using Json = nlohmann::ordered_json;

Json made_config(const ModelConfig& config, const ChatTokenizer& chat) {
  auto json = Json::parse(config_to_json(config));
  json.erase("embedding_scale");
  if (chat.begin_token()) json["bos_token_id"] = *chat.begin_token();
  const std::vector<TokenId>& ends = chat.stop_tokens();
  json["eos_token_id"] = ends;
  if (ends.size() == 1) json["eos_token_id"] = ends.front();
  return json;
}

void set_type(Json& config, ExportType type) {
  const char* name = type == ExportType::kBf16 ? "bfloat16" : "float32";
  const bool is_new = config.contains("dtype");  // since transformers 4.56
  if (is_new) config["dtype"] = name;
  if (!is_new || config.contains("torch_dtype")) config["torch_dtype"] = name;
}

}  // namespace

void export_hugging_face(const std::filesystem::path& directory, const ParameterLayout& layout,
                         std::span<const float> weights, const ChatTokenizer& chat, ExportType type,
                         const std::string& config_json) {
  std::vector<float> scaled(weights.begin(), weights.end());
  if (layout.config.embedding_scale != 1) {
    scale(scaled, layout.slots[layout.embedding()], layout.config.embedding_scale);
    scale(scaled, layout.slots[layout.final_norm()], 1 / layout.config.embedding_scale);
  }
  const auto path = directory / "model.safetensors";
  if (type == ExportType::kBf16) {
    const auto rounded = to_bfloat16(scaled);
    write_weights(path, layout, "BF16", reinterpret_cast<const char*>(rounded.data()), 2);
  } else {
    write_weights(path, layout, "F32", reinterpret_cast<const char*>(scaled.data()), 4);
  }
  Json config = config_json.empty() ? made_config(layout.config, chat) : Json::parse(config_json);
  set_type(config, type);
  files::write_file(directory / "config.json", {config.dump(2), "\n"});
  for (const TokenizerFile& file : chat.files()) {
    files::write_file(directory / file.name, {file.contents});
  }
  files::sync_directory(directory);
}

}  // namespace krl::libtorch
