// Writes adapters as a PEFT directory, which peft and vLLM load: adapter_config.json and
// adapter_model.safetensors. Torch-free.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "plugins/policies/libtorch/model/lora.hpp"

namespace krl::libtorch {

// Writes into an existing directory; errors as write_file. `adapters` [lora.total];
// `base` is the model's directory, as adapter_config.json is to name it.
void export_peft(const std::filesystem::path& directory, const LoraLayout& lora,
                 const std::string& base, std::span<const float> adapters);

}  // namespace krl::libtorch
