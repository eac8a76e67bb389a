// A model on the GPU as generation uses it: views of the flat weights, which are never copied, so
// that what a training step writes into them is there for the next token. Plain data.
#pragma once

#include <vector>

#include "generation/cuda/device_types.hpp"
#include "generation/cuda/kernel_source.hpp"
#include "model/parameters.hpp"
#include "torch.hpp"

namespace krl::libtorch {

struct DeviceModel {
  struct Layer {
    at::Tensor attention_norm, ffn_norm;           // [hidden]
    at::Tensor qkv, attention_out, gate_up, down;  // transposed: [inputs, outputs]
    HeadWeights heads;
  };

  // `weights` is the flat array of `layout` on a GPU, in bfloat16 or float32; it must stay where it
  // is. Throws krl::Failure (KRL_INVALID_ARGUMENT) if it is anything else.
  DeviceModel(const ParameterLayout& layout, const at::Tensor& weights);

  // An uninitialised tensor of the model's type on its device.
  at::Tensor empty(at::IntArrayRef shape) const { return at::empty(shape, flat.options()); }

  ModelConfig config;
  Precision precision;
  at::Tensor flat;
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
