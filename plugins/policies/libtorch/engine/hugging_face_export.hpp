// Writes a model as a Hugging Face directory, which transformers and vLLM load: config.json,
// model.safetensors and the tokenizer's files. Torch-free.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "plugins/policies/libtorch/model/parameters.hpp"
#include "plugins/policies/tokenizer/chat_tokenizer.hpp"

namespace krl::libtorch {

using policies::ChatTokenizer;

// Type of the weights in the file; kBf16 rounds to nearest even.
enum class ExportType { kF32, kBf16 };

// Writes into an existing directory; errors as write_file. The exported model computes the same
// function: embedding_scale, which Llama does not have, is multiplied into the embedding and, as
// that is also the output matrix, divided out of the last norm. `config_json` is that of the
// directory which the model comes from, and stays as it is except for the type; empty for a model
// from scratch.
void export_hugging_face(const std::filesystem::path& directory, const ParameterLayout& layout,
                         std::span<const float> weights, const ChatTokenizer& chat, ExportType type,
                         const std::string& config_json);

}  // namespace krl::libtorch
