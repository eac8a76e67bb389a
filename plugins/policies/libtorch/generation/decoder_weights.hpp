// A model's weights in the layout used by generation on the CPU.
#pragma once

#include <span>
#include <vector>

#include "plugins/policies/libtorch/generation/kernels.hpp"
#include "plugins/policies/libtorch/model/lora.hpp"
#include "plugins/policies/libtorch/model/parameters.hpp"

namespace krl::libtorch {

// A matrix and the addition of its adapters: in·Wᵀ + in·narrowᵀ·widenᵀ.
struct PackedProjection {
  PackedMatrix weight;
  PackedMatrix narrow;  // the A of all its adapters: [adapters · rank, inputs]; empty without
  PackedMatrix widen;   // their B times LoRA's scale, 0 elsewhere: [outputs, adapters · rank]
};

// The weights in the layout of the kernels.
struct DecoderWeights {
  struct Layer {
    std::vector<float> attention_norm, ffn_norm;  // [hidden]
    std::vector<float> qkv_bias;                  // [qkv_width]; empty without
    std::vector<float> query_norm, key_norm;      // [head_size]; empty without
    PackedProjection qkv;                         // [qkv_width, hidden]: queries, keys, values
    PackedProjection attention_out;               // [hidden, attention_width]
    PackedProjection gate_up;                     // [2 · ffn, hidden]: gate, up
    PackedProjection down;                        // [hidden, ffn]
  };
  ModelConfig config;
  std::vector<float> embedding;  // [vocabulary, hidden], before embedding_scale
  std::vector<Layer> layers;
  std::vector<float> final_norm;  // [hidden]
  PackedMatrix head;              // [vocabulary, hidden]
};

// Repacks flat weights [layout.total] into the memory that `packed` has.
void pack_weights(const ParameterLayout& layout, std::span<const float> weights,
                  DecoderWeights& packed);

// The same with adapters [lora.total], of a model that pack_weights() has packed.
void pack_adapters(const LoraLayout& lora, std::span<const float> adapters, DecoderWeights& packed);

}  // namespace krl::libtorch
