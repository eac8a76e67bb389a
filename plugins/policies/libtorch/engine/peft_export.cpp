#include "plugins/policies/libtorch/engine/peft_export.hpp"

#include <nlohmann/json.hpp>

#include "plugins/files/file.hpp"
#include "plugins/policies/storage/safetensors.hpp"

namespace krl::libtorch {

using namespace policies;  // tokenizer, storage

namespace {

// 32 rather than 32.0: vLLM and PEFT declare alpha as a whole number, though both take others.
nlohmann::ordered_json number(double value) {
  const auto whole = static_cast<std::int64_t>(value);
  if (static_cast<double>(whole) == value) return whole;
  return value;
}

}  // namespace

void export_peft(const std::filesystem::path& directory, const LoraLayout& lora,
                 const std::string& base, std::span<const float> adapters) {
  std::map<std::string, TensorView> tensors;
  for (const ParameterSlot& slot : lora.slots) {
    tensors[slot.name] = {"F32",
                          slot.shape,
                          {reinterpret_cast<const char*>(adapters.data() + slot.offset),
                           static_cast<std::size_t>(slot.size) * sizeof(float)}};
  }
  write_safetensors(directory / "adapter_model.safetensors", tensors, {{"format", "pt"}});
  const nlohmann::ordered_json config = {{"peft_type", "LORA"},
                                         {"task_type", "CAUSAL_LM"},
                                         {"base_model_name_or_path", base},
                                         {"r", lora.options.rank},
                                         {"lora_alpha", number(lora.options.alpha)},
                                         {"lora_dropout", lora.options.dropout},
                                         {"target_modules", lora.options.targets},
                                         {"bias", "none"},
                                         {"fan_in_fan_out", false},
                                         {"inference_mode", true}};
  files::write_file(directory / "adapter_config.json", {config.dump(2), "\n"});
  files::sync_directory(directory);
}

}  // namespace krl::libtorch
