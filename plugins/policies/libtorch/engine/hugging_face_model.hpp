// Reads the model of a Hugging Face directory: config.json, and model.safetensors or the shards
// that model.safetensors.index.json names. Torch-free. The files are untrusted.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "model/config.hpp"

namespace krl::libtorch {

struct HuggingFaceModel {
  ModelConfig config;
  std::string config_json;     // the text that `config` was read from
  std::vector<float> weights;  // in the order of ParameterLayout(config)
};

// Weights in F32, BF16 or F16 become float32. Throws krl::Failure: KRL_NOT_FOUND for a file that is
// missing; KRL_INVALID_ARGUMENT that names the file and the tensor for one that is missing, has
// another type or shape, or is not known (it would be left out of the model), and for everything
// that config_from_json() and Safetensors::read() refuse.
HuggingFaceModel load_hugging_face_model(const std::filesystem::path& directory);

}  // namespace krl::libtorch
