// A model from scratch as a Hugging Face directory of the Llama family: config.json,
// model.safetensors, tokenizer.json, tokenizer_config.json, generation_config.json. Torch-free.
#pragma once

#include <filesystem>
#include <span>

#include "model/parameters.hpp"
#include "tokenizer/byte_pair_encoding.hpp"

namespace krl::libtorch {

// Writes into an existing directory; errors as write_file. The exported model computes the same
// function: embedding_scale, which Llama does not have, is multiplied into the embedding and, as
// that is also the output matrix, divided out of the last norm.
void export_hugging_face(const std::filesystem::path& directory, const ParameterLayout& layout,
                         std::span<const float> weights, const BytePairEncoding& encoding);

}  // namespace krl::libtorch
