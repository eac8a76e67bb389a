// Reads the model of a Hugging Face directory: config.json, and model.safetensors or the shards
// listed in model.safetensors.index.json. Torch-free. The files are untrusted, and must not change
// while their weights are in use.
#pragma once

#include <filesystem>
#include <string>

#include "plugins/policies/libtorch/model/config.hpp"
#include "plugins/policies/libtorch/model/stored_weights.hpp"

namespace krl::libtorch {

struct HuggingFaceModel {
  ModelConfig config;
  std::string config_json;  // the text that `config` was read from
  StoredWeights weights;    // the files' weights for ParameterLayout(config)
};

// The weights are F32, BF16 or F16. Throws krl::Failure: KRL_NOT_FOUND for a file that is
// missing; KRL_INVALID_ARGUMENT that names the file and the tensor for one that is missing, has
// another type or shape, or is not known (it would be left out of the model), and for everything
// that config_from_json() and Safetensors::read() refuse.
HuggingFaceModel load_hugging_face_model(const std::filesystem::path& directory);

}  // namespace krl::libtorch
