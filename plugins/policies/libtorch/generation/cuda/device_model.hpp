// A model on the GPU as used by generation: the weights and adapters of training, which are never
// copied, so that the updates of a step are used for the next token, and both compute the same.
// Plain data.
#pragma once

#include <vector>

#include "plugins/policies/libtorch/generation/cuda/device_types.hpp"
#include "plugins/policies/libtorch/generation/cuda/kernel_source.hpp"
#include "plugins/policies/libtorch/model/llama.hpp"
#include "plugins/policies/libtorch/torch.hpp"

namespace krl::libtorch {

struct DeviceModel {
  struct Layer {
    at::Tensor attention_norm, ffn_norm;  // [hidden]
    Projection qkv, attention_out, gate_up, down;
    HeadWeights heads;
  };

  // `parameters` are on a GPU, in bfloat16 or float32, and stay where they are. Throws krl::Failure
  // (KRL_INVALID_ARGUMENT) if they are anything else.
  DeviceModel(const ModelConfig& config, const DecoderParameters& parameters);

  at::TensorOptions options() const { return embedding.options(); }
  at::Device device() const { return embedding.device(); }
  // An uninitialised tensor of the model's type on its device.
  at::Tensor empty(at::IntArrayRef shape) const { return at::empty(shape, options()); }
  // The most adapters · rank of a projection; 0 without adapters.
  std::int64_t narrowed_width() const;

  ModelConfig config;
  Precision precision;
  at::Tensor rotary;     // float32 pairs of cosine and sine, [context, head_size / 2, 2]
  at::Tensor embedding;  // [vocabulary, hidden]
  at::Tensor head;       // [hidden, vocabulary]
  at::Tensor final_norm;
  std::vector<Layer> layers;

  // The norm that comes after layer `layer`'s feed-forward: the next layer's, or the last.
  const at::Tensor& norm_after(std::size_t layer) const {
    return layer + 1 < layers.size() ? layers[layer + 1].attention_norm : final_norm;
  }
};

}  // namespace krl::libtorch
